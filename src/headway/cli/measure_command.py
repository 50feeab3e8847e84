"""`headway measure`: scores of heads and the ladder over a folder of PyTorch checkpoints, into one record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from headway.cli import UserError
from headway.cli.option_help import presenting
from headway.cli.parsing import parse
from headway.settings.extras import to_install

USAGE = """\
Measure checkpoints of a PyTorch model as if its training had been watched: attention by lag, head
scores, and KL to n-gram models of your data, in one record. If it is interrupted, repeat the
command: it continues with the next checkpoint.

examples:
  headway measure checkpoints/* --probe held_out.npy --ngrams training.npy    folders saved by transformers
  headway measure out/step*.pt --builder my_model.py --probe held_out.npy     weights, and a file with build()
  headway report --from runs                                                  write its page
"""


@dataclass(frozen=True)
class Options:
    """Which checkpoints, with which tokens, and where to write."""

    checkpoints: Annotated[tuple[Path, ...], tyro.conf.Positional] = ()
    """Folders saved by Hugging Face transformers, or safetensors or torch files; steps are read from their names."""
    probe: Path | None = None
    """Tokens on which to measure, (row, time) or (time,), as .npy; or a text file, if the folders hold a tokenizer."""
    ngrams: Path | None = None
    """Training tokens for the ladder, as .npy, or a text; no ladder if not given."""
    orders: int = 5
    """Number of n-gram orders in the ladder: 1 is unigrams, 2 adds bigrams."""
    builder: Path | None = None
    """A Python file with a function build() that returns the model; needed for files of weights."""
    rows: int = 8
    """Number of rows into which a one-dimensional probe is cut."""
    length: int = 256
    """Length of each of these rows."""
    attention: str | None = None
    """Modules whose output is attention, or package.module:function; found automatically if not given."""
    name: str = ""
    """Name of the record; the folder's name if not given."""
    into: Path = Path("runs")
    """Folder for the record."""
    device: str = ""
    """Device to compute on, such as cpu or cuda:1; if not given, a GPU if there is one."""


REQUIRED = {
    "checkpoints": "checkpoints (folders saved by transformers, or files of weights)",
    "probe": "--probe (a file with the tokens on which to measure)",
}
"""Options without which nothing can be measured -> what they are."""


def main(arguments: Sequence[str]) -> None:
    shown = presenting(Options, (), REQUIRED)
    options = parse(Options, arguments, prog="headway measure", description=USAGE, registry=shown)
    _measure(options, _required(options))


def _required(options: Options) -> Path:
    """The probe, if nothing is missing. All that is missing is named at once, where tyro would name a part of it."""
    missing = [words for name, words in REQUIRED.items() if not getattr(options, name)]
    if options.probe is not None and not missing:
        return options.probe
    number = len(options.checkpoints)
    got = [f"{number} checkpoint{'s' if number > 1 else ''}"] if number else []
    got += [] if options.probe is None else [f"--probe {options.probe}"]
    raise UserError(
        f"`headway measure` got {' and '.join(got) or 'neither checkpoints nor a probe'}, but it needs "
        f"{' and '.join(missing)}{' as well' if got else ''}. "
        "Example: `headway measure checkpoints/* --probe held_out.npy`."
    )


def _measure(options: Options, tokens: Path) -> None:
    try:
        import torch
    except ImportError as error:
        raise UserError(f"PyTorch is not installed. {to_install('telemetry')}") from error
    import headway
    from headway.telemetry.checkpoints import Checkpoint, measure
    from headway.telemetry.errors import TelemetryError

    def show(each: Checkpoint) -> None:
        print(f"step {each.step}: {each.path}", flush=True)

    try:
        probe, vocab = _tokens(tokens, options)
        probe = probe if probe.ndim == 2 else _cut(probe, options)
        ladder = None
        if options.ngrams is not None:
            training, _ = _tokens(options.ngrams, options)
            most = max(int(probe.max()), int(training.max())) + 1
            ladder = headway.ngrams(training, options.orders, vocab=max(most, vocab or 0))
        watch = measure(
            options.checkpoints,
            probe,
            builder=options.builder,
            device=options.device or ("cuda" if torch.cuda.is_available() else "cpu"),
            on_each=show,
            ladder=ladder,
            folder=options.into,
            attention=options.attention,
            **({"name": options.name} if options.name else {}),
        )
    except (TelemetryError, ValueError) as error:
        raise UserError(str(error)) from error
    print(f"The record is {watch.path}.\n  headway report --from {options.into}    write its page")


def _tokens(path: Path, options: Options) -> tuple[Any, int | None]:
    """Tokens of a file, and the vocabulary size where a tokenizer says it."""
    import numpy as np

    if path.suffix == ".npy":
        return np.load(path, allow_pickle=False), None
    folder = next((each for each in options.checkpoints if (each / "tokenizer.json").is_file()), None)
    if folder is None:
        raise UserError(f"{path} is a text, but no checkpoint has a tokenizer for it. Give tokens as a .npy file.")
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise UserError(
            f"{path} is a text, and transformers, which reads tokenizers, is not installed. "
            f"{to_install('transformers')} Or give tokens as a .npy file."
        ) from error

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    text = path.read_text(encoding="utf-8")
    return np.asarray(tokenizer(text, add_special_tokens=False)["input_ids"]), len(tokenizer)


def _cut(tokens: Any, options: Options) -> Any:
    count = min(options.rows, len(tokens) // options.length)
    if count < 1:
        raise UserError(f"the probe has {len(tokens)} tokens, fewer than one row of {options.length}. Set --length.")
    return tokens[: count * options.length].reshape(count, options.length)
