"""One tidy table out of a record: a row per seed, time and place, for pandas, R or a spreadsheet.

    seed  clock       time  quantity          layer  head  lag  rung   value
    0     step           1  train_loss                                 3.91
    0     evaluation     0  kl_rungs                              2    1.37
    0     evaluation     0  attention_by_lag      0     2    1         0.05
    0                       entropy                                    1.52

    table = pandas.read_csv("run.csv")
    table[table.quantity == "excess_loss"].pivot(index="time", columns="seed", values="value")

Facts, which have no time, leave `clock` and `time` empty. The attention matrices are larger than all
the rest together and come only when they are asked for.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from headway.export.errors import ExportError, require_place
from headway.settings.extras import to_install
from headway.store import Record
from headway.store.output import written
from headway.store.texts import csv_cell

BIG = ("attention",)
ROWS = 1 << 16
"""Rows that are in memory at once."""
FIRST = ("seed", "clock", "time", "quantity")

AXES: dict[str, tuple[str, ...]] = {
    "kl_rungs": ("rung",),
    "rung_excess": ("rung",),
    "kl_references": ("reference",),
    "attention_by_lag": ("layer", "head", "lag"),
    "value_alignment": ("layer", "head", "block"),
    "attention": ("layer", "head", "query", "key"),
    # Of paper B's toy and transformers.
    **dict.fromkeys(("attention_relevant", "attention_previous"), ("layer", "head")),
}
"""What the axes after (seed, time) mean; those of other quantities are called index_0, index_1, ..."""
FLOW_AXES: dict[str, tuple[str, ...]] = {
    "attention": ("head", "position"),
    "attention_elsewhere": ("head",),
    "values": ("head", "feature"),
    "loss_parts": ("feature", "position"),
    "boundaries": ("feature",),
}
"""The same of a gradient flow, whose attention is no matrix."""

Columns = dict[str, Any]
"""Name of a column -> one value for all rows of a batch, or an array with a value for each."""


def export(
    record: Record,
    path: str | os.PathLike[str],
    *,
    quantities: Sequence[str] | None = None,
    overwrite: bool = False,
) -> Path:
    """Write a record's numbers to `path`, as CSV or Parquet by its ending.

    `quantities` names the arrays and facts to write; without it, all but the attention matrices.
    """
    path = Path(path)
    writers: dict[str, Callable[..., None]] = {".csv": _write_csv, ".parquet": _write_parquet}
    if path.suffix not in writers:
        raise ExportError(f"{path} ends in {path.suffix!r}, but a table ends in .csv or .parquet. Rename it.")
    require_place(path, overwrite)
    columns, batches = table_of(record, quantities)
    try:
        with written(path) as file:
            writers[path.suffix](file, columns, batches)
    except OSError as error:
        raise ExportError(f"{path} could not be written: {error.strerror or error}.") from error
    return path


def table_of(record: Record, quantities: Sequence[str] | None = None) -> tuple[list[str], Iterator[Columns]]:
    """The names of the columns, and the rows in pieces."""
    chosen = _chosen(record, quantities)
    axes = dict.fromkeys(axis for quantity in chosen for axis in _axes(record, quantity))
    return [*FIRST, *axes, "value"], _batches(record, chosen)


def _chosen(record: Record, quantities: Sequence[str] | None) -> list[str]:
    trajectory = record.trajectory
    there = [*trajectory.arrays, *(name for name in trajectory.facts if name not in trajectory.arrays)]
    if quantities is None:
        return [name for name in there if name not in BIG or _axes(record, name) != AXES[name]]
    for name in quantities:
        if name not in there:
            raise ExportError(f"the record has no {name!r}. It has {', '.join(there)}.")
    return list(quantities)


def _values(record: Record, quantity: str) -> tuple[np.ndarray, int]:
    """The numbers, and how many axes come before their own: (seed, time) or (seed)."""
    trajectory = record.trajectory
    return (trajectory[quantity], 2) if quantity in trajectory else (trajectory.facts[quantity], 1)


def _axes(record: Record, quantity: str) -> tuple[str, ...]:
    values, before = _values(record, quantity)
    own = values.ndim - before
    known = [names for names in (AXES.get(quantity, ()), FLOW_AXES.get(quantity, ())) if len(names) == own]
    return known[0] if known else tuple(f"index_{axis}" for axis in range(own))


def _labels(record: Record, axis: str, index: np.ndarray) -> np.ndarray:
    """What stands in a column: lags, features and positions count from 1, references are the lengths of contexts."""
    if axis in ("lag", "feature", "position"):
        return index + 1
    if axis == "reference":
        contexts = [run.task.context for run in getattr(record.cell.settings, "references", ())]
        return np.asarray(contexts)[index] if contexts else index
    return index


def _batches(record: Record, quantities: Sequence[str]) -> Iterator[Columns]:
    """The table in pieces of at most ROWS rows, whatever the shapes."""
    trajectory, seeds = record.trajectory, np.asarray(record.cell.seeds)
    for quantity in quantities:
        values, before = _values(record, quantity)
        axes, flat = _axes(record, quantity), values.reshape(-1)
        for start in range(0, flat.size, ROWS):
            rows = np.arange(start, min(start + ROWS, flat.size))
            places = np.unravel_index(rows, values.shape)
            batch: Columns = {"quantity": quantity, "seed": seeds[places[0]], "value": flat[rows]}
            if before == 2:
                batch["clock"] = trajectory.clock_of[quantity]
                batch["time"] = trajectory.times(quantity)[places[1]]
            for axis, index in zip(axes, places[before:], strict=True):
                batch[axis] = _labels(record, axis, index)
            yield batch


def _write_csv(file: IO[bytes], columns: Sequence[str], batches: Iterator[Columns]) -> None:
    """Numbers in the fewest digits that read back as the same number of the same type."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for batch in batches:
        count = len(batch["value"])
        writer.writerows(zip(*(_texts(batch.get(name, ""), count) for name in columns), strict=True))
    text.detach()  # flushed, and the file stays open


def _texts(values: str | np.ndarray, count: int) -> list[str]:
    # str of a NumPy number keeps to its type, so 0.1 in float32 stays 0.1 and does not grow digits.
    return [csv_cell(values)] * count if isinstance(values, str) else [str(value) for value in values]


def _write_parquet(file: IO[bytes], columns: Sequence[str], batches: Iterator[Columns]) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ExportError(
            f"Parquet needs the package pyarrow, which is not installed. {to_install('parquet')} Or export to .csv."
        ) from error
    words = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    types = {"seed": pyarrow.int64(), "clock": words, "quantity": words}
    types |= {"time": pyarrow.float64(), "value": pyarrow.float64()}
    schema = pyarrow.schema([(name, types.get(name, pyarrow.int32())) for name in columns])
    with parquet.ParquetWriter(file, schema) as writer:
        for batch in batches:
            count = len(batch["value"])
            arrays = [_column(field.type, batch.get(field.name), count) for field in schema]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))


def _column(kind: Any, values: str | np.ndarray | None, count: int) -> Any:
    import pyarrow

    if values is None:
        return pyarrow.nulls(count, kind)
    if isinstance(values, str):
        return pyarrow.DictionaryArray.from_arrays(np.zeros(count, np.int32), pyarrow.array([values]))
    return pyarrow.array(values.astype(kind.to_pandas_dtype()))
