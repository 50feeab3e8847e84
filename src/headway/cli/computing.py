"""Cells computed wherever the options say, and the records that answer them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headway.cli import UserError

if TYPE_CHECKING:
    from headway.cli.run_command import Options
    from headway.records import Cell
    from headway.settings.keeping import Keep
    from headway.store import Record, Store
    from headway.sweep.engines import Engine


def compute(cells: Sequence[Cell], stores: Sequence[Store], options: Options) -> None:
    """Train what no store has into the first one; the second, if there is one, keeps small copies."""
    from headway.lookup import needed, require_answers_kept
    from headway.settings.keeping import keep_of

    engine, keep = _engine(options), keep_of(options.keep_weights)
    missing = needed(cells, stores)
    require_answers_kept(cells, missing, stores[:1], keep)
    if options.dry_run:
        from headway.cli.dry_run import show_plan
        from headway.sweep.fitting import limit_of

        workers, elsewhere = (1, False) if engine is None else (engine.workers or 1, engine.elsewhere)
        limit = limit_of(engine, len(missing))
        raise SystemExit(0 if show_plan(missing, len(cells), stores[0], limit, workers, elsewhere) else 2)
    stores[0].tidy()
    if missing and engine is None:
        from headway.cli.screen import Screen
        from headway.sweep.compiled import kept_compiled
        from headway.sweep.here import run_cells

        with Screen() as screen, kept_compiled(screen.note):
            run_cells(missing, stores[0], screen, **({"keep": keep} if keep else {}))
    elif missing and engine is not None:
        _hand_out(missing, stores[0], engine, options.detach, keep)
    _require_done(missing, stores[0])
    everything = dict.fromkeys(each for cell in cells for each in (*cell.needs(), cell))
    for keep in stores[1:]:
        for cell in everything:
            if stores[0].has(cell):
                stores[0].copy_small(cell, keep)


def _require_done(cells: Sequence[Cell], store: Store) -> None:
    """Whoever computes says why it could not; should it ever not, nothing is shown as if it were complete."""
    lost = [cell.identity for cell in cells if not store.has(cell)]
    if lost:
        raise UserError(
            f"{len(lost)} of {len(cells)} cells were not computed, {lost[0]} first. What was saved is intact; the "
            "same command resumes from it."
        )


def _engine(options: Options) -> Engine | None:
    """The engine that was asked for; none for this process."""
    if options.on == "here":
        if options.engine or options.detach:
            raise UserError("--engine and --detach need other processes. Choose them too, such as --on slurm.")
        return None
    from headway.sweep.engines import NAMES, engine
    from headway.sweep.engines.options import given

    name = options.on.partition(":")[0]
    chosen = engine(options.on, given(name, options.engine, options.cluster, NAMES[1:]))
    if options.detach and not chosen.outlives:
        raise UserError(f"--detach works with slurm only; the jobs of {name} end with this command.")
    return chosen


def _hand_out(cells: Sequence[Cell], store: Store, engine: Engine, detach: bool, keep: Keep) -> None:
    from headway.cli.sweep_screen import SweepScreen
    from headway.sweep.handing_out import Detached, SweepError, hand_out

    try:
        with SweepScreen(engine.name) as screen:
            hand_out(cells, store, engine, screen.tell, detach=detach, keep=keep)
    except Detached as left:
        print(f"{left}\nThey continue without this command. Give it again later to see their results.")
        raise SystemExit(0) from None
    except SweepError as error:
        raise UserError(str(error)) from error


def records_of(
    cells: Mapping[str, Cell], stores: Sequence[Store], among: Sequence[Record] | None = None
) -> dict[str, Record]:
    """The record of each run; whoever asks for many passes `among`, all that can be read."""
    from headway.lookup import answer

    found = {run: answer(cell, stores, among=among) for run, cell in cells.items()}
    return {run: record for run, record in found.items() if record is not None}
