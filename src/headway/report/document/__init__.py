"""docs/reproduction.md, written from the records: experiment by experiment what was found, under which settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from headway.analysis import median_in_words
from headway.records import NOT_IN_GRID, NOT_MADE, Finding
from headway.report.about import context_of
from headway.report.captions import caption_of
from headway.report.document.beside import beside
from headway.report.document.tables import (
    FLOW_WORDS,
    NamedRun,
    flow_table,
    is_flow,
    schedule_table,
    stage_table,
)
from headway.store.output import write_output

__all__ = ["NamedRun", "tables_of", "write_document"]

INTRODUCTION = """\
A claim holds if it holds in every seed, partly if in at least half of them. A seed *cannot be judged* if what the claim
compares could not be measured; such a seed counts as one that does not hold. Numbers are medians over seeds with
95 % intervals (BCa bootstrap). `printed` uses the settings that paper A prints, `as-run` those of its authors' code,
`paper` those of the other papers. Claims that begin with H, N, R or T, and those whose statement says so, are ours. The
definitions were written before the runs were made, except those of claims marked *post hoc*, which were written after
their outcome had been seen; [the log](log.md) lists those that changed afterwards. On the expected loss the toy model
of paper B is deterministic: all seeds of a run have a plateau of the same length and are not independent tests.

*Minimum of KL to rung i*: the step at which KL to rung i reaches its minimum, in the seeds that then go on to stage
i + 1 (claims such as A1 use the minimum of every seed). A *boundary* is the step at which KL to one rung exceeds its
minimum by as much as KL to the next does ([measures](measures.md)). If some seeds do not have a step, the number of
those that have it follows it. *Stages* is the number of stages (each rung counted once), from fewest to most over
seeds; the number of seeds in which they do not come in order (rung 2, then rung 1) follows in brackets. A step back,
or over a rung, has no boundary in the table. *Published* values of paper A are read by eye from the authors' figures,
for one seed; for those of the other papers see below. Excess loss is in nats. *At the rungs* is the excess loss
at the step where KL to each rung reaches its minimum. For each rung but the last, only seeds in which that KL rises
again count; for the last, only seeds in which KL to all other rungs rises again. *Lowest* is the smallest excess loss
over training, in all seeds. *Not in grid* means that the grid has no such runs, *not run* that it has them, but not
all of them have been made. Grids on which nothing was run for a claim are left out of its table."""

DIFFERENCES = """\
Every run takes one setting from the other grid; the table below has the numbers. They show:

- **Learning rate**: it determines whether the minimal model climbs the ladder. With the authors' rate and nothing else
  changed, the printed run reaches the last rung in most seeds; with the printed rate and nothing else changed, the run
  of the authors' code stays on its first rung.
- **Scaled scores**: dividing scores by the root of their width doubles the time to the first boundary of the minimal
  model as run and leaves the second where it is. At the printed learning rate no seed then reaches the first. The
  learning rate changes far more.
- **Aggregation**: a sum over a block instead of a mean makes every block stronger, so that the plateaus lie higher.
  When they come, and in which order, hardly changes.
- **Schedule**: measured once per epoch, the training loss never stalls for long enough before the last stage begins.
- **Dropout** (full model): all seeds reach the last rung, whether it is applied at every step or, as in the authors'
  code, only at the first step of an epoch. At every step, the lowest excess loss is a little lower with the printed
  settings and higher as run.
- **Ratio m** (full model as run, m = 2 as in the authors' configuration for SGD): of all single changes that were run,
  it comes nearest to both published boundaries of this model; see
  [beside the published numbers](#beside-the-published-numbers)."""

SADDLE = """\
The paper prints a schedule that halves the rate when the loss stops falling (patience 10) and does not state which
loss. The table shows its effect on runs that start at a saddle, with scores of 1e-9, for the mean training loss of each
epoch (`plateau`) and for the training loss of every step (`plateau-step`):"""


def write_document(
    path: Path,
    findings: Sequence[tuple[str, Finding]],
    runs: Sequence[NamedRun],
    titles: Mapping[str, str],
    command: str,
) -> Path:
    """The whole page as Markdown; `titles` are the experiments, in order, with what each shows."""
    parts = [
        "# What is reproduced, and what is not",
        f"This page is generated from the records by `{command}` (in a clone, type `./run` instead of `headway`); do "
        "not edit it by hand.",
        INTRODUCTION,
        "## All claims",
        _summary(findings),
    ]
    parts += beside(runs)
    for experiment, title in titles.items():
        parts += [f"## {experiment}", title, *_figures(path, experiment), *_claims(findings, experiment)]
        parts += tables_of([run for run in runs if run.experiment == experiment])
    path.parent.mkdir(parents=True, exist_ok=True)
    write_output(path, ("\n\n".join(parts) + "\n").encode())
    return path


def tables_of(runs: Sequence[NamedRun]) -> list[str]:
    """What an experiment's runs show of their stages, with the words that explain it."""
    parts: list[str] = []
    flows = [run for run in runs if is_flow(run)]
    if flows:
        parts += [FLOW_WORDS, flow_table(flows)]
    shown = [run for run in runs if "kl_rungs" in run.trajectory and context_of(run.settings) is None]
    if shown:
        parts += [DIFFERENCES] if shown[0].experiment == "differences" else []
        parts.append(stage_table(shown))
    saddles = [
        run for run in shown if run.experiment == "differences" and run.settings.model.initialisation == "uniform"
    ]
    if saddles:
        parts += ["### What the plateau schedule does to a saddle", SADDLE, schedule_table(saddles)]
    return parts


def _summary(findings: Sequence[tuple[str, Finding]]) -> str:
    """One row a claim, one column a grid."""
    grids = list(dict.fromkeys(grid for grid, _ in findings))
    lines = [f"| claim | {' | '.join(grids)} | statement |", "|---" * (len(grids) + 2) + "|"]
    for claim in dict.fromkeys(finding.claim for _, finding in findings):
        rows = {grid: finding for grid, finding in findings if finding.claim == claim}
        verdicts = [_verdict(rows.get(grid)) for grid in grids]
        lines.append(f"| {claim} | {' | '.join(verdicts)} | {next(iter(rows.values())).statement} |")
    return "\n".join(lines)


def _verdict(finding: Finding | None) -> str:
    if finding is None:
        return ""  # The experiment has no such grid.
    return finding.summary


def _figures(path: Path, experiment: str) -> list[str]:
    """The experiment's figures that lie beside the document."""
    folder = path.parent / "figures"
    found = sorted([*folder.glob(f"{experiment}-as-run-*.png"), *folder.glob(f"{experiment}-paper-*.png")])
    return [_figure(file, caption_of(file.read_bytes())) for file in found]


def _figure(file: Path, caption: str) -> str:
    """The picture, and below it what it shows."""
    words = caption.replace("*", r"\*")
    return f"![{file.stem}](figures/{file.name})" + (f"\n\n*{file.stem}.* {words}" if caption else "")


def _claims(findings: Sequence[tuple[str, Finding]], experiment: str) -> list[str]:
    own = [(grid, finding) for grid, finding in findings if finding.figures == f"{experiment}-{grid}"]
    blocks = []
    for claim in dict.fromkeys(finding.claim for _, finding in own):
        rows = [(grid, finding) for grid, finding in own if finding.claim == claim]
        first = rows[0][1]
        lines = [f"**{claim}.** {first.statement}", "", f"*Definition:* {first.definition}", ""]
        rows = [(grid, finding) for grid, finding in rows if finding.detail not in (NOT_MADE, NOT_IN_GRID)]
        if not rows:
            blocks.append("\n".join([*lines, "Not run."]))
            continue
        lines += [f"| grid | verdict | seeds | {first.quantity} | |", "|---|---|---|---|---|"]
        for grid, finding in rows:
            words = [finding.detail] if finding.detail else []
            if finding.parts and finding.verdict != "holds":
                words.append(
                    "; ".join(f"{part}: {count} of {len(finding.holds)}" for part, count in finding.parts.items()) + "."
                )
            number = median_in_words(finding.values, finding.interval)
            lines.append(f"| {grid} | {finding.verdict} | {finding.counts} | {number} | {' '.join(words)} |")
        lines += [f"\n*Possible reason ({grid}):* {finding.reason}" for grid, finding in rows if finding.reason]
        blocks.append("\n".join(lines))
    return blocks
