"""A record's model as files for other programs: plain PyTorch, TransformerLens, or its bare weights.

`plain_torch.py` and `for_lens.py` beside this file are what is written, with the run's settings filled in: they are
text here, and are never imported.
"""

from __future__ import annotations

import json
import os
import pprint
import re
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import numpy as safetensors

from headway.export.errors import ExportError, require_place
from headway.export.lens import lens_config, lens_weights
from headway.models.transformer import Transformer
from headway.settings.given import Given
from headway.store.output import written
from headway.store.texts import printable
from headway.trained import TrainedModel

Written = dict[str, bytes]
"""Ending of a file -> its content."""


def export_model(
    model: TrainedModel, path: str | os.PathLike[str], form: str, *, overwrite: bool = False
) -> list[Path]:
    """Write a model as "torch", "transformerlens" or "safetensors"; what was written, the file that was named first.

    The first two write one readable file, which ends in .py, and the weights beside it.
    """
    path = Path(path)
    if not isinstance(model.module, Transformer):
        raise ExportError(f"{model.record.name} has its task's own model, not a transformer. Use model.weights.")
    if form not in FORMS:
        raise ExportError(f"--as is {form!r}, but a model is written as {', '.join(FORMS)}.")
    ending = ".safetensors" if form == "safetensors" else ".py"
    if path.suffix != ending or (ending == ".py" and not path.stem.isidentifier()):
        wanted = f"{form} is written to a file that ends in {ending}" + (
            " and can be imported" if ending == ".py" else ""
        )
        raise ExportError(f"{path} has the wrong suffix: {wanted}, such as model{ending}.")
    contents = FORMS[form](model, path.stem)
    targets = {path.with_suffix(each): content for each, content in contents.items()}
    for target in targets:
        require_place(target, overwrite)
    for target, content in targets.items():
        try:
            with written(target) as file:
                file.write(content)
        except OSError as error:
            raise ExportError(f"{target} could not be written: {error.strerror or error}.") from error
    return sorted(targets, key=lambda target: target != path)


def plain_weights(model: TrainedModel) -> dict[str, np.ndarray]:
    """Weights by names that read as paths: layers.0.attention.query."""
    return {re.sub(r"\[(\d+)\]", r".\1", name).lstrip("."): values for name, values in model.weights.items()}


def told(model: TrainedModel) -> dict[str, Any]:
    """What a program needs to know of the model besides its weights."""
    settings, reads = model.module.settings, model.reads
    names = ("positions", "scaled_scores", "residual", "norm", "attention", "activation", "emphasis", "causal")
    emphasis = model.module.layers[0].attention.emphasis
    return {
        "record": printable(model.record.name),
        "seed": model.seed,
        "step": model.step,
        "inputs": reads.inputs,
        "outputs": reads.outputs,
        "length": reads.positions,
        "predicted": reads.predicted,
        "tokens": reads.tokens,
        **{name: getattr(settings, name) for name in names},
        **({} if emphasis is None else {"emphasised": [list(pair) for pair in emphasis.places]}),
    }


def _torch(model: TrainedModel, name: str) -> Written:
    _require_named(model)
    return {".py": _filled("plain_torch.py", "SETTINGS", told(model), name), ".safetensors": _safetensors(model)}


def _lens(model: TrainedModel, name: str) -> Written:
    _require_named(model)
    weights = safetensors.save(dict(lens_weights(model)), _metadata(model))
    return {".py": _filled("for_lens.py", "CONFIG", lens_config(model), name), ".safetensors": weights}


def _bare(model: TrainedModel, _name: str) -> Written:
    return {".safetensors": _safetensors(model)}


FORMS: Mapping[str, Callable[[TrainedModel, str], Written]] = {
    "torch": _torch,
    "transformerlens": _lens,
    "safetensors": _bare,
}


def _safetensors(model: TrainedModel) -> bytes:
    ordered = {name: np.asarray(values, order="C") for name, values in plain_weights(model).items()}
    return safetensors.save(ordered, _metadata(model))


def _metadata(model: TrainedModel) -> dict[str, str]:
    positions = model.module.settings.positions
    return {"headway": json.dumps({**told(model), "positions": str(positions)}, sort_keys=True)}


def _filled(template: str, constant: str, values: Mapping[str, Any], name: str) -> bytes:
    text = resources.files("headway.export").joinpath(template).read_text(encoding="utf-8")
    filled = f"{constant} = {pprint.pformat(dict(values), sort_dicts=False, width=100)}"
    text = text.replace(f"{constant} = {{}}  # filled in", filled).replace("from NAME import", f"from {name} import")
    assert filled in text
    return text.encode()


def _require_named(model: TrainedModel) -> None:
    positions = model.module.settings.positions
    if isinstance(positions, Given):
        raise ExportError(
            f"the model's positions are {positions.name!r}, a custom function that other programs do not know. "
            "Export the weights alone: --as safetensors."
        )
