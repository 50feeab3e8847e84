"""Cells computed wherever the options say, and the records that answer them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from headway.cli import UserError
from headway.cli.copies import Copies, bring_pilots

if TYPE_CHECKING:
    from headway.cli.run_command import Options
    from headway.records import Cell
    from headway.settings.keeping import Keep
    from headway.store import Record, Store
    from headway.sweep.engines import Engine
    from headway.sweep.tally import Tally


Look = Callable[["Tally"], None]


def compute(cells: Sequence[Cell], stores: Sequence[Store], options: Options, look: Look = lambda _tally: None) -> None:
    """Train what no store has into the first one; the second, if there is one, keeps small copies.

    While other processes train, `look` is called with how far they are.
    """
    from headway.lookup import needed, require_answers_kept, require_frozen_parts
    from headway.settings.keeping import keep_of

    keep, missing = keep_of(options.keep_weights), needed(cells, stores)
    require_frozen_parts(missing)
    engine = _engine(options, missing, stores)
    require_answers_kept(cells, missing, stores[:1], keep)
    if options.dry_run:
        from headway.cli.dry_run import show_plan

        raise SystemExit(0 if show_plan(missing, len(cells), stores, engine) else 2)
    stores[0].tidy()
    bring_pilots(missing, stores)
    copies = Copies(cells, stores[0], stores[1:])
    if missing and engine is None:
        from headway.cli.screen import Screen
        from headway.cli.spent_table import show_spent
        from headway.sweep.compiled import kept_compiled
        from headway.sweep.here import listen, run_cells, spent

        listen()
        with Screen() as screen, kept_compiled(screen.note):
            run_cells(missing, stores[0], screen, **({"keep": keep} if keep else {}))
        show_spent(screen.console, {"this process": spent()})
    elif missing and engine is not None:
        _hand_out(missing, stores, engine, options.detach, keep, [copies.look, look])
    _require_done(missing, stores[0])
    copies.make()


def _require_done(cells: Sequence[Cell], store: Store) -> None:
    """Whoever computes says why it could not; should it ever not, nothing is shown as if it were complete."""
    lost = [cell.identity for cell in cells if not store.has(cell)]
    if lost:
        raise UserError(
            f"{len(lost)} of {len(cells)} cells were not computed, {lost[0]} first. What was saved is intact; the "
            "same command resumes from it."
        )


def _engine(options: Options, missing: Sequence[Cell], stores: Sequence[Store]) -> Engine | None:
    """The engine that was asked for, or that suits this machine; none for this process."""
    if options.on in ("here", "auto"):
        if options.engine or options.detach:
            raise UserError("--engine and --detach need other processes. Choose them too, such as --on slurm.")
        return _suited(missing, stores) if options.on == "auto" and missing else None
    from headway.sweep.engines import NAMES, engine
    from headway.sweep.engines.options import given

    name = options.on.partition(":")[0]
    chosen = engine(options.on, given(name, options.engine, options.cluster, NAMES[1:]))
    if options.detach and not chosen.outlives:
        raise UserError(f"--detach works with slurm only; the jobs of {name} end with this command.")
    return chosen


def _suited(missing: Sequence[Cell], stores: Sequence[Store]) -> Engine | None:
    """Several processes where they share a GPU and there are programs for them; this one elsewhere."""
    from headway.sweep.engines.gpus import gpus

    found = gpus()
    if not found:
        return None
    from headway.sweep.schedule import costs_for
    from headway.sweep.suited import engine_for

    return engine_for(missing, found, costs_for(missing, stores))


def _hand_out(
    cells: Sequence[Cell], stores: Sequence[Store], engine: Engine, detach: bool, keep: Keep, looks: Sequence[Look]
) -> None:
    from headway.cli.spent_table import show_working
    from headway.cli.sweep_screen import SweepScreen
    from headway.sweep.handing_out import Detached, SweepError, hand_out
    from headway.sweep.schedule import costs_for

    costs = costs_for(cells, stores) if engine.layout is not None else None
    screen = SweepScreen(engine.name)

    def tell(tally: Tally) -> None:
        screen.tell(tally)
        for look in looks:
            look(tally)

    try:
        with screen:
            hand_out(cells, stores[0], engine, tell, detach=detach, keep=keep, costs=costs)
    except Detached as left:
        print(f"{left}\nThey continue without this command. Give it again later to see their results.")
        raise SystemExit(0) from None
    except SweepError as error:
        raise UserError(str(error)) from error
    finally:
        show_working(screen.console, screen.working)


def records_of(
    cells: Mapping[str, Cell], stores: Sequence[Store], among: Sequence[Record] | None = None
) -> dict[str, Record]:
    """The record of each run; whoever asks for many passes `among`, all that can be read."""
    from headway.lookup import answer

    found = {run: answer(cell, stores, among=among) for run, cell in cells.items()}
    return {run: record for run, record in found.items() if record is not None}
