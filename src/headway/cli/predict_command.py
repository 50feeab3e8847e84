"""`headway predict`: how long a plateau will be, before anything is trained."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from headway.cli import UserError, suggestion
from headway.cli.arguments import USUAL, folders_with_records, take_option
from headway.cli.option_help import presenting
from headway.cli.parsing import parse
from headway.forecast.question import MODELS, Asked, required_of, settings_of

if TYPE_CHECKING:
    from headway.forecast.answer import Forecast
    from headway.forecast.held_out import HeldOut

USAGE = """\
Predict the length of a plateau in training steps, with a 95 % interval for one run. The source of the prediction is
stated: theory, or a law fitted to records. Nothing is trained.
"""
ENDS = {
    "toy": "paper B's toy model: until attention finds the relevant token",
    "transformer": "a transformer on single-location regression: until attention finds the relevant token",
    "recall": "a transformer on associative recall: until 5 % of its answers are right",
    "linear-attention": "linear attention on in-context regression: until each drop of the loss",
    "minimal": "paper A's minimal model: until each boundary between its stages",
    "moving-window": "a transformer on moving-window sums, with weakened attention: until the last drop",
}
"""Model -> what is predicted of it."""
NOTHING = 1000
"""An interval of this factor either way says nothing."""
UNNAMED = Asked.model
"""The model of a question that names none."""
EXAMPLES = """\
  headway predict toy --dimension 64 --length 1024 --copies 4            the T attention logits trained
  headway predict toy --dimension 64 --length 1024 --trained gap --json  the gap trained instead; as JSON
  headway predict toy --dimension 16 --length 64 --samples 256           with a training set
  headway predict transformer --dimension 32 --length 128                a law fitted to records
  headway predict recall --vocab 64 --pairs 16 --from results            until 5 % accuracy
  headway predict recall --vocab 64 --pairs 16 --accuracy 0.5            until 50 % accuracy
  headway predict linear-attention --spectrum 4 3 2 1 --pairs 31 --heads 5 --start 0.01 --drop 2
  headway predict minimal --ratio 1.5 --blocks 1-2 3-4 5-6               boundaries between the chain's stages
  headway predict moving-window --strength 0.3                           the loss plateau with weaker attention
"""


def usage(model: str | None) -> str:
    """Help of one model with its examples, or of all with where their options are explained."""
    lines = EXAMPLES.splitlines(keepends=True)
    column = lines[0].index("the T attention")
    held_out = (
        f"  headway predict {model or 'toy'} --held-out".ljust(column)
        + "how well it predicts measured settings that are held out\n"
    )
    if model is None:
        wide = max(map(len, ENDS))
        models = "".join(f"  {name:<{wide}}  {words}\n" for name, words in ENDS.items())
        listed = f"models ({UNNAMED} if none is named):\n"
        explained = "Every model has options of its own. `headway predict MODEL --help` explains them.\n"
        return f"{USAGE}\n{listed}{models}\n{explained}\nexamples:\n{''.join(lines)}{held_out}"
    own = "".join(line for line in lines if line.startswith(f"  headway predict {model} "))
    return f"{ENDS[model][0].upper()}{ENDS[model][1:]}.\n\n{USAGE}\nexamples:\n{own}{held_out}"


@dataclass(frozen=True)
class Options(Asked):
    """What is asked; the letters are the paper's."""

    blocks: tuple[str, ...] = ()  # ty: ignore[incompatible-attribute-override]
    """Blocks of lags, as in 1-2 3-4 5-6; minimal."""
    from_: Annotated[tuple[Path, ...], tyro.conf.arg(name="from")] = USUAL
    """Folders with records."""
    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print a JSON object; null where a number is not known."""
    held_out: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Instead, hold out measured combinations of settings, predict them, and count how many lie in the interval."""


def main(arguments: Sequence[str]) -> None:
    if arguments and arguments[0] in MODELS:
        arguments = ["--model", *arguments]
    elif arguments and not arguments[0].startswith("-") and not {"-h", "--help"} & set(arguments):
        near = suggestion(arguments[0], list(MODELS))
        raise UserError(f"there is no model {arguments[0]!r}.{near} `headway predict --help` lists all.")
    options = _parse(list(arguments))
    if take_option(list(arguments), "--model", None) is None:
        print(_unnamed(), file=sys.stderr)  # not among the numbers, which may be piped on
    folders = folders_with_records(options.from_)
    if options.held_out:
        _show_held_out(options, _score(options.model, folders))
        return
    _show_all(_each(options), folders)


def _show_all(asked: list[Options], folders: list[Path]) -> None:
    """As many as can be predicted; the first that cannot says why, and is an error only where it is the only one."""
    for place, each in enumerate(asked):
        try:
            told = _answer(each, folders)
        except UserError as error:
            if place == 0:
                raise
            print(f"Boundary {each.boundary} and later ones are not predicted: {error}", file=sys.stderr)
            return
        _show(each, told)


def _unnamed() -> str:
    """Which model is taken where none is named, and which others there are."""
    others = [name for name in MODELS if name != UNNAMED]
    return (
        f"No model was named, so {UNNAMED} was taken ({ENDS[UNNAMED]}).\n"
        f"Others: {', '.join(others)}, as in `headway predict {others[0]}`; `headway predict --help` explains them."
    )


def _parse(arguments: list[str]) -> Options:
    """Every model's options are understood; help shows those of one model, or what all have in common."""
    model = take_option(arguments, "--model", None)
    known = model if model in MODELS else None
    others = {each for name in MODELS for each in settings_of(name)} - set(settings_of(known) if known else ())
    hidden = others | ({"model"} if known else set())
    asked = {"-h", "--help"} & set(arguments)
    return parse(
        Options,
        arguments,
        prog=f"headway predict {known or '[MODEL]'}" if asked else "headway predict",
        description=usage(known),
        registry=presenting(Options, hidden, required_of(known) if known else ()) if asked else None,
    )


def _each(options: Options) -> list[Options]:
    """A question for every boundary, where none is named."""
    if options.boundary is not None or len(options.blocks) < 2:
        return [options]
    return [replace(options, boundary=boundary) for boundary in range(1, len(options.blocks))]


def _answer(options: Options, folders: list[Path]) -> Forecast:
    from headway.forecast.answer import NotMeasured
    from headway.forecast.ask import ask
    from headway.forecast.question import Question

    asked: dict[str, Any] = {each.name: getattr(options, each.name) for each in fields(Question)}
    asked["blocks"] = _blocks(options.blocks)
    question = Question(**asked)
    try:
        return ask(question, folders)
    except NotMeasured as error:
        raise UserError(str(error)) from error


def _blocks(typed: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    if not typed:
        return ()
    from headway.cli.settings_options import read_blocks  # late: help need not wait for NumPy

    try:
        return read_blocks(list(typed))
    except ValueError as error:
        raise UserError(f"--blocks: {error}.") from None


def _score(model: str, folders: list[Path]) -> list[HeldOut]:
    from headway.forecast.ask import runs_of
    from headway.forecast.held_out import held_out

    return held_out(model, runs_of(model, folders))


def _show(options: Options, told: Forecast) -> None:
    if options.json:
        print(json.dumps(told.as_json(), indent=1))
        return
    known = told.low == told.low  # not NaN
    where = ""
    if told.cells:
        seeds = "1 seed each" if told.seeds == 1 else f"up to {told.seeds} seeds each"
        where = f" ({told.cells} cells, {seeds}, in {' and '.join(told.folders)})"
    lines: dict[str, Any] = {
        "plateau": f"{told.steps:,.0f} steps from the start, until {told.ends}",
        f"{100 * told.coverage:g} % of runs": f"{told.low:,.0f} to {told.high:,.0f}" if known else "not known",
        "from": f"{told.source}: {told.basis}{where}",
    }
    if told.closed_form is not None:
        lines["closed form"] = f"{told.closed_form:,.0f}"
    if told.published is not None:
        lines["published"] = f"{told.published:,.0f}, by {told.published_law}"
    print(told.asked)
    for name, words in lines.items():
        print(f"  {name:<13} {words}")
    for warning in told.warnings:
        print(f"  {'warning':<13} {warning}")


def _show_held_out(options: Options, rows: list[HeldOut]) -> None:
    if not rows:
        raise UserError(
            f"there are too few records of {options.model} in {' and '.join(map(str, options.from_))} to hold some "
            "out. Name the folder that has them with --from, or make some with `headway run`."
        )
    if options.json:
        print(json.dumps([vars(row) for row in rows], indent=1))
        return
    wide, first = max(20, *(len(row.held) for row in rows)), max(24, *(len(row.what) for row in rows))
    heading = f"{'inside 95 % interval':<22} {'median error':<13} interval: factor either way"
    print(f"{'':<{first}} {'held out':<{wide}} {heading}")
    for row in rows:
        share = f"{row.inside}/{row.of}, {row.inside / row.of:.0%}"
        # Where a law says next to nothing, how little does not matter.
        factor = f"{row.width**0.5:.4f}" if row.width < NOTHING**2 else f"over {NOTHING}"
        print(f"{row.what:<{first}} {row.held:<{wide}} {share:<22} {row.miss - 1:<13.2%} {factor}")
