"""A record as a table of pandas or polars: the rows of `headway export`."""

import csv
import importlib.util
import sys

import numpy as np
import pytest
from tests.test_export import record as record

from headway.export import ExportError, export

LIBRARIES = [name for name in ("pandas", "polars") if importlib.util.find_spec(name)]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_table_has_the_rows_of_an_export(record, tmp_path, library):
    pytest.importorskip(library)
    frame = record.to_frame(library=library)
    with export(record, tmp_path / "run.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(frame.columns) == list(rows[0])
    assert len(frame) == len(rows)
    values = np.asarray(frame["value"], np.float64)
    wanted = np.array([float(row["value"]) for row in rows])
    np.testing.assert_allclose(values, wanted, rtol=1e-6, atol=1e-38)
    assert [str(each) for each in frame["quantity"]] == [row["quantity"] for row in rows]
    for column in ("layer", "rung"):
        missing = [row[column] == "" for row in rows]
        found = frame[column].isna() if library == "pandas" else frame[column].is_null()
        assert list(found) == missing


def test_one_quantity_and_the_first_library_that_is_there(record):
    if not LIBRARIES:
        pytest.skip("neither pandas nor polars is installed")
    frame = record.to_frame(["train_loss"])
    assert type(frame).__module__.split(".")[0] == LIBRARIES[0]
    assert set(frame["quantity"]) == {"train_loss"}
    assert len(frame) == record.trajectory["train_loss"].size


def test_without_a_library_the_words_say_what_to_install(record, monkeypatch):
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ExportError, match=r"needs pandas or polars, which is not installed: pip install pandas"):
        record.to_frame()


def test_another_library_is_refused(record):
    with pytest.raises(ExportError, match="a table can be made by pandas or polars"):
        record.to_frame(library="excel")
