"""A folder of checkpoints, measured one after the other into one record; interrupted, it goes on with the next."""

from __future__ import annotations

import itertools
import json
import re
import runpy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from headway.settings.extras import to_install
from headway.telemetry.errors import TelemetryError
from headway.telemetry.schedule import Schedule
from headway.telemetry.watch import Watch

WRAPPERS = ("_orig_mod.", "module.")
"""What torch.compile and data parallel training write before every name."""
INSIDE = ("state_dict", "model", "model_state_dict")
"""Under which of its entries a file of more than weights usually keeps them."""


class Checkpoint(NamedTuple):
    step: int
    path: Path


def in_order(paths: Sequence[Path]) -> list[Checkpoint]:
    """Checkpoints by the steps in their names, or in a Trainer's own note of them."""
    found = sorted(Checkpoint(step_of(path), path) for path in paths)
    if not found:
        raise TelemetryError("there are no checkpoints. Name folders or files, as in checkpoints/*.")
    for a, b in itertools.pairwise(found):
        if a.step == b.step:
            raise TelemetryError(f"{a.path} and {b.path} are both of step {a.step}. Measure one of them.")
    return found


def step_of(path: Path) -> int:
    note = path / "trainer_state.json"
    if note.is_file():
        try:
            return int(json.loads(note.read_text(encoding="utf-8"))["global_step"])
        except (ValueError, KeyError, TypeError) as error:
            raise TelemetryError(f"{note} does not say its global_step ({error}).") from error
    if not path.exists():
        raise TelemetryError(f"there is no {path}.")
    numbers = re.findall(r"\d+", path.name.removesuffix(path.suffix) if path.is_file() else path.name)
    if not numbers:
        raise TelemetryError(f"{path.name} has no step in its name, as checkpoint-500 and step500.pt have. Rename it.")
    return int(numbers[-1])


def loader(builder: Path | None) -> Callable[[Path], torch.nn.Module]:
    """path -> model: folders of transformers by themselves, files of weights into what the user's file builds."""
    made: dict[str, Any] = {}

    def load(path: Path) -> torch.nn.Module:
        if builder is None and path.is_dir():
            return _from_transformers(path)
        if builder is None:
            raise TelemetryError(
                f"{path} contains only weights. Give a Python file with a function build() that returns the model: "
                "--builder my_model.py."
            )
        if "model" not in made:
            made["model"] = _build(builder)
        _fill(made["model"], path)
        return made["model"]

    return load


def measure(
    paths: Sequence[Path],
    probe: Any,
    *,
    builder: Path | None = None,
    device: str = "cpu",
    on_each: Callable[[Checkpoint], None] = lambda _: None,
    **options: Any,
) -> Watch:
    """Probe every checkpoint; `options` are those of `Watch`. What the record has already is not measured again."""
    every, load = in_order(paths), loader(builder)
    model = load(every[0].path).to(device)
    names = tuple(each.path.name for each in every)
    options.setdefault("name", every[0].path.absolute().parent.name)
    options |= {"schedule": Schedule(growth=None, every=1, share=None), "checkpoints": names}
    watch = Watch(model, probe, **options)
    if watch.is_done():
        return watch
    last = watch.open()
    try:
        for each in every:
            if last is not None and each.step <= last:
                continue
            on_each(each)
            watch.model = model if each is every[0] else load(each.path).to(device)
            watch.measure(each.step)
    except BaseException:
        watch.close()
        raise
    watch.finish()
    return watch


def _from_transformers(path: Path) -> torch.nn.Module:
    """Weights and configuration alone: code that lies in the folder is not run."""
    if not (path / "config.json").is_file():
        raise TelemetryError(f"{path} has no config.json, as models of transformers have. Weights need --builder.")
    try:
        from transformers import AutoModelForCausalLM
    except ImportError as error:
        raise TelemetryError(
            f"{path} needs transformers, which is not installed. {to_install('transformers')}"
        ) from error
    try:
        return AutoModelForCausalLM.from_pretrained(path, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise TelemetryError(f"{path} cannot be loaded: {str(error).splitlines()[0]}") from error


def _build(builder: Path) -> torch.nn.Module:
    build = runpy.run_path(str(builder)).get("build")
    model = build() if callable(build) else None
    if not isinstance(model, torch.nn.Module):
        raise TelemetryError(f"{builder} has no function build() that returns a torch.nn.Module.")
    return model


def _fill(model: torch.nn.Module, path: Path) -> None:
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            weights: Any = load_file(path)
        else:
            weights = torch.load(path, map_location="cpu", weights_only=True)  # a file of weights runs no code
    except Exception as error:  # pickle has errors of its own for each thing that it refuses
        raise TelemetryError(f"{path} cannot be read as weights alone: {str(error).splitlines()[0]}") from error
    try:
        model.load_state_dict(bare_names(weights))
    except (RuntimeError, AttributeError, TypeError) as error:
        raise TelemetryError(f"{path} does not fit the model that was built: {error}") from error


def bare_names(weights: Mapping[str, Any]) -> dict[str, Any]:
    """The weights of a file, from under the name of an entry, without what wrappers write before each name."""
    for name in INSIDE:
        if isinstance(weights.get(name), Mapping):
            return bare_names(weights[name])
    found = dict(weights)
    for prefix in WRAPPERS * 2:
        found = {name.removeprefix(prefix): value for name, value in found.items()}
    return found
