"""A record's numbers as one long table of pandas or polars: the rows that `export` writes."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.export.errors import ExportError
from headway.export.table import table_of
from headway.store import Record

LIBRARIES = ("pandas", "polars")


def to_frame(record: Record, quantities: Sequence[str] | None = None, library: str | None = None) -> Any:
    """Columns seed, clock, time, quantity, the axes by name, value; all quantities but the attention matrices.

    `library` is "pandas" or "polars": the first that is installed if not given. Axes that a quantity does not have, and
    the time of a fact, are missing.
    """
    if library not in (None, *LIBRARIES):
        raise ExportError(f"library is {library!r}, but a table can be made by {' or '.join(LIBRARIES)}.")
    found = _library((library,) if library else LIBRARIES)
    columns, batches = table_of(record, quantities)
    parts: dict[str, list[Any]] = {name: [] for name in columns}
    for batch in batches:
        count = len(batch["value"])
        for name in columns:
            parts[name].append(_column(name, batch.get(name), count))
    joined = {name: np.concatenate(each) for name, each in parts.items()}
    if found.__name__ == "pandas":
        return found.DataFrame({name: _of_pandas(found, name, values) for name, values in joined.items()})
    return found.DataFrame({name: _of_polars(found, name, values) for name, values in joined.items()})


WORDS = ("clock", "quantity")
REAL = ("time", "value")


def _column(name: str, values: Any, count: int) -> np.ndarray:
    """One value for each row; words are objects, axes are whole numbers, -1 where a quantity does not have them."""
    if name in WORDS:
        return np.full(count, values, object)
    if name in REAL:
        return np.full(count, np.nan) if values is None else np.asarray(values, np.float64)
    return np.full(count, -1) if values is None else np.asarray(values, np.int64)


def _of_pandas(pandas: Any, name: str, values: np.ndarray) -> Any:
    if name in WORDS:
        return pandas.Categorical(values)
    if name in REAL or name == "seed":
        return values
    return pandas.arrays.IntegerArray(values, values < 0)


def _of_polars(polars: Any, name: str, values: np.ndarray) -> Any:
    if name in WORDS:
        return polars.Series(name, values.tolist(), dtype=polars.Categorical)
    made = polars.Series(name, values)
    if name == "seed":
        return made
    return made.fill_nan(None) if name == "time" else made if name in REAL else made.replace(-1, None)


def _library(names: Sequence[str | None]) -> Any:
    for name in names:
        try:
            return importlib.import_module(str(name))
        except ImportError:
            continue
    raise ExportError(
        f"a table needs {' or '.join(map(str, names))}, which is not installed: pip install pandas. "
        "Or write a file: headway.export.export(record, 'numbers.csv')."
    )
