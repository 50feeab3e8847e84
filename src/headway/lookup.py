"""Which record on disk answers a cell."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from headway import registry
from headway.records import Cell
from headway.settings import SettingsError
from headway.settings.keeping import ALL, Keep
from headway.store import Record, Store, StoreError
from headway.tasks.run import Settings


class Records(list[Record]):
    """Records, to be asked which of them compute the same as a cell: thousands are asked for by thousands."""

    def __init__(self, records: Iterable[Record]) -> None:
        super().__init__(records)
        self._alike: dict[Hashable, list[Record]] = {}
        self._own: dict[str, Record] = {}
        for record in self:
            self._alike.setdefault(record.cell.run, []).append(record)
            self._own.setdefault(record.identity, record)

    def own(self, cell: Cell) -> Record | None:
        """The cell's own record; of several folders', that of the first."""
        return self._own.get(cell.identity)

    def alike(self, cell: Cell) -> list[Record]:
        """Those that differ from the cell at most in seeds and comparisons."""
        return self._alike.get(cell.run, [])


def answer(
    cell: Cell, stores: Iterable[Store], *, loosely: bool = False, among: Sequence[Record] | None = None
) -> Record | None:
    """The cell's own record; else the same run with more comparisons; loosely, with other seeds or comparisons too.

    Comparing a run with n-gram models does not change it, so a run that was compared serves where no
    comparison is asked for. Of several records the one with the wanted comparisons and most seeds is taken.
    Whoever asks for many cells passes `among`, the `readable` records, so that they are listed once.
    """
    stores = list(stores)
    if isinstance(among, Records) and (own := among.own(cell)) is not None:
        return own
    for store in stores:
        if store.has(cell):
            return store.load(cell)
    records = readable(stores) if among is None else among
    alike = records.alike(cell) if isinstance(records, Records) else records
    found = [record for record in alike if _serves(record.cell, cell, loosely)]
    return max(found, key=lambda record: _fitness(record.cell, cell), default=None)


def needed(cells: Iterable[Cell], stores: Sequence[Store]) -> list[Cell]:
    """The cells to compute so that every one has an answer: no run twice, once with and once without comparisons."""
    among = readable(stores)
    missing = list(dict.fromkeys(cell for cell in cells if answer(cell, stores, among=among) is None))
    alike: dict[Hashable, list[Cell]] = {}
    for cell in missing:
        alike.setdefault(cell.run, []).append(cell)
    return [
        cell for cell in missing if not any(_serves(other, cell, False) for other in alike[cell.run] if other != cell)
    ]


def require_answers_kept(cells: Iterable[Cell], missing: Iterable[Cell], stores: Sequence[Store], keep: Keep) -> None:
    """Refuse to pass a record for one that keeps models if it was made without them: it is never written again."""
    if not keep:
        return
    absent = set(missing)
    for cell in cells:
        record = None if cell in absent or not registry.is_trained(cell.kind) else answer(cell, stores)
        had = None if record is None else record.provenance.get("keep_weights")
        if record is not None and had not in (keep.word, ALL):
            raise SettingsError(
                f"{record.path} already exists and keeps {f'models by {had!r}' if had else 'only its last model'}, "
                f"not by {keep.word!r}; records are never rewritten. Choose another folder (--into, into=), where "
                "the same settings give the same numbers, or move that record away."
            )


def require_frozen_parts(missing: Iterable[Cell]) -> None:
    """Refuse `training.frozen` before anything is planned or trained if it names what a run's model does not have."""
    runs = [cell.settings for cell in missing if isinstance(cell.settings, Settings) and cell.settings.training.frozen]
    if not runs:
        return
    import jax

    from headway.training.frozen import require_parts
    from headway.training.problem import new_model

    # Of thousands that differ only in numbers, one is looked at.
    for run in {(type(run.task), run.model, run.training.frozen): run for run in runs}.values():
        require_parts(jax.eval_shape(lambda run=run: new_model(run, jax.numpy.uint32(0), 1.0)), run.training.frozen)


def _serves(there: Cell, wanted: Cell, loosely: bool) -> bool:
    if there.run != wanted.run:
        return False
    return loosely or (there.seeds == wanted.seeds and not _comparisons(wanted))


def _fitness(there: Cell, wanted: Cell) -> tuple[bool, int, str]:
    return _comparisons(there) == _comparisons(wanted), len(there.seeds), there.identity


def _comparisons(cell: Cell) -> tuple[Any, ...]:
    return getattr(cell.settings, "references", ())


def readable(stores: Iterable[Store]) -> Records:
    """Records that can be read; a damaged one answers nothing, and opening it is an error in words."""

    def ignore(_error: StoreError) -> None: ...

    return Records(record for store in stores for record in store.records(on_damaged=ignore))
