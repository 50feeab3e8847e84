"""docs/speed.md, written from the records: every number with the command that measures it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from benchmarks.bench import PARTS
from benchmarks.bench.record import BenchRecord
from benchmarks.bench.tables import CASES, COMPARED, Table, ratios, table

TRUSTED = 0.1
"""Share of the processor that others may have: beyond it, PyTorch's threads were seen to wait for each other."""

TITLES = {
    "rivals": "Against what a user would write instead",
    "transformers": "Small transformers, many seeds in one program",
    "forms": "A part removed, more layers, other positions, windows",
    "scaling": "How the cost grows",
    "start": "Before the first step, and memory",
    "evaluation": "What measuring costs",
    "reduction": "What the exact reduction of the flow saves",
}

WORDS = {
    "rivals": "A step is forward, backward, clipping to norm 1 and AdamW on one batch, per seed. *PyTorch* is eager, "
    "*torch.compile* is the same model compiled, *plain JAX* is `vmap`, `value_and_grad`, optax and `jit` on dense "
    "one-hot vectors; their code is in `benchmarks/bench/rivals`. Headway is the program that the command `run` "
    "trains with. Rival and Headway are timed in turn, and a ratio is that of two successive times; quartiles and "
    "range are over the rounds. Before the timing, a check: from the same weights and on the same sequences, all of "
    "them give the same loss, the same gradient and the same losses over three steps.",
    "transformers": "Models of paper B and of text: eight seeds in one program of Headway beside one seed of the same "
    "model as a PyTorch user writes it (fused projections, `scaled_dot_product_attention`, fused AdamW on a GPU), "
    "eager, compiled, or compiled with CUDA graphs; per seed and step, with the arithmetic of the run "
    "(TF32 where it asks for it, which a CPU computes in float32). PyTorch's batches are drawn beforehand; "
    "Headway draws its own during the step. The logits of both from the same weights are compared first. Times and "
    "ratios are medians over the rounds, so that a ratio is not exactly that of the two times beside it. The floor "
    "is the time of the matrix products of a step alone, counted from the program, at the rate of one large "
    "product on this machine.",
    "forms": "Paper A's models beyond the minimal and the full one, as its experiments run them: the full model with a "
    "part removed (batches of 3000, attention dropped, too), two layers, four heads, windows of an n-gram "
    "model for each of the 20 predictions; and models of width 96 with other positions or four layers "
    "(batches of 1000). Where a run has dropout in the first of an epoch's steps only, whole epochs are timed "
    "on both sides; *dropout at every step* says so. Headway trains eight seeds in one program on a GPU and "
    "two on a CPU, one for each core, beside one seed of the same model as a PyTorch user writes it, on all "
    "cores: one fused projection, "
    "`scaled_dot_product_attention`, behind the last heads only the positions that predict, of a window only "
    "the last token's query; batches and windows are made beforehand. The arithmetic is that of the run (TF32 "
    "for the full models with batches of 3000, which a CPU computes in float32). Each case has a process of "
    "its own and is timed while no other is; before, loss and gradient of a step of the program that is timed "
    "are compared with PyTorch's from the same weights on the same sequences, without dropout. Times and "
    "ratios are medians over the rounds. The floor is that of the previous table, with the products as the "
    "formulas have them; looking up rows of a table of tokens and positions saves some of these, so that "
    "Headway may lie below it. There is none where tokens are one-hot vectors.",
    "scaling": "Headway alone, one number changed at a time from the model's own settings; per seed and step. The "
    "exponent b of cost ~ value^b is a least-squares fit on logs of the medians, with its standard error. More blocks "
    "of the task make the context longer.",
    "start": "Each program alone in a fresh process: seconds from the start of the process until all imports are "
    "done and until the first training step is done (compiling included), and the largest resident memory, then and "
    "after the imports. The last lines are the whole command `headway run stages` up to the first line that it writes, "
    "and up to the line about its first step, with the evaluations before and after it: with nothing kept of what an "
    "earlier run compiled, and started again.",
    "evaluation": "Steps and evaluations of the default run in turn. The last column is the time of the whole run "
    "divided by the time of its training steps alone.",
    "reduction": "The gradient flow of theory.md from V = 0: three heads, three features, ten positions, to time 20. "
    "*Matrices* solves for the d x d numbers of every V; *coordinates* solves for its three coordinates in the span "
    "that V never leaves, and its time includes the conversion to coordinates and back. Both are timed in turn, and a "
    "ratio is that of two successive times. They end at the same matrices and attention, up to the largest "
    "difference of any entry in the last column.",
}


def document(records: Sequence[BenchRecord], pictures: Path, folder: Path, command: str) -> str:
    """The whole page as Markdown; it lies in `folder` and shows what is in `pictures`."""
    parts = [
        "# How fast Headway trains",
        f"Every number on this page is made from the records by `{command}`; do not edit it. The records contain "
        "each individual time that was measured, except where a table says otherwise; each table names the command "
        "that measures it again.",
    ]
    shown = [record for record in records if record.scale == "paper"] or list(records)
    if shown and shown[0].scale != "paper":
        parts.append(
            "**These records are of quick shapes: they show that everything works, and nothing about how fast it is.**"
        )
    for platform in dict.fromkeys(record.platform for record in shown):
        here = [record for record in shown if record.platform == platform]
        parts += ["## " + {"cpu": "On a CPU", "gpu": "On a GPU"}[platform], _machines(here)]
        for part in PARTS:
            records_of = [record for record in here if record.part == part]
            if records_of:
                words = table(part, records_of)
                parts += [f"### {TITLES[part]}", WORDS[part], _markdown(words)]
                parts += _pictures(part, records_of, pictures, folder)
                parts.append(f"Measured by {', '.join(f'`{c}`' for c in words.commands)}; {rounds(words)}.")
                parts += _kept(records_of)
    return "\n\n".join(parts) + "\n"


def _kept(records: Sequence[BenchRecord]) -> list[str]:
    """Who lacks single times, and why."""
    lacking = [CASES[record.case] for record in records if "spreads" in record.measured]
    if not lacking:
        return []
    return [
        "Only the quartiles and the range were kept, not the individual times, for these models: "
        f"{'; '.join(lacking)}. A script measured them before this part of the benchmark existed. The load from other "
        "processes is known only for the time before the measurement."
    ]


def rounds(table: Table) -> str:
    """How often it was measured, and how much others disturbed it."""
    count = "once" if table.rounds == (1,) else f"{' or '.join(map(str, table.rounds))} rounds"
    count = count if table.rounds else "the number of rounds was not kept"
    if table.others is None:
        return count
    doubt = ", too much for the ratios to be trusted" if table.others > TRUSTED else ""
    return f"{count}, other processes used up to {100 * table.others:.0f} % of the CPU{doubt}"


def _machines(records: Sequence[BenchRecord]) -> str:
    """What it was measured on; more than one line if the records differ in more than how busy the machine was."""
    loads: dict[str, list[float]] = {}
    for record in records:
        machine = record.machine
        memory = "" if machine["memory_bytes"] is None else f", {machine['memory_bytes'] / 2**30:.0f} GiB"
        versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items() if version)
        state = " with changes" if machine["changed"] else ""
        words = (
            f"- {machine['device']}; {machine['processor']}, {machine['cores']} cores{memory}; {machine['system']}; "
            f"Python {machine['python']}, {versions}; commit {(machine['commit'] or 'not known')[:12]}{state}"
        )
        loads.setdefault(words, []).append(machine["load"])
    return "\n".join(f"{words}; load before measuring at most {max(busy):g}" for words, busy in loads.items())


def _pictures(part: str, records: Sequence[BenchRecord], pictures: Path, folder: Path) -> list[str]:
    names = [record.name for record in records] if part in ("scaling", "reduction") else []
    if part in COMPARED:
        compared = [record for record in records if ratios(record)]
        names = list(dict.fromkeys(f"{part}-{record.scale}-{record.platform}" for record in compared))
    where = Path(os.path.relpath(pictures, folder)).as_posix()
    return [f"![{TITLES[part]}]({where}/{name}.png)" for name in names]


def _markdown(table: Table) -> str:
    rows = [table.headings, ("---",) * len(table.headings), *table.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
