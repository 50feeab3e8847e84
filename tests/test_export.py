"""A record as one tidy table."""

import csv
import sys
from collections import Counter

import numpy as np
import pytest
from tests.report.made_flow import made_flow

from headway.export import ExportError, export
from headway.export import table as exporting
from headway.records import Cell, Trajectory
from headway.settings import FlowSettings
from headway.store import Record, Store
from headway.tasks.chain import Chain
from headway.tasks.run import Settings

SEEDS = (5, 9)
FLOW = FlowSettings(length=6, points=3)


@pytest.fixture(scope="module")
def record(tmp_path_factory) -> Record:
    generator = np.random.default_rng(0)
    clocks = {"step": np.arange(1, 7), "evaluation": np.array([0, 2, 6]), "flow": np.array([0.0, 0.125])}
    shapes = {
        "train_loss": ("step", ()),
        "kl_rungs": ("evaluation", (4,)),
        "kl_references": ("evaluation", (2,)),
        "attention_by_lag": ("evaluation", (1, 3, 5)),
        "attention": ("evaluation", (1, 3, 4, 5)),
        "overlap": ("flow", (2, 2)),
    }
    arrays = {
        name: generator.normal(size=(2, len(clocks[clock]), *tail)).astype(np.float32)
        for name, (clock, tail) in shapes.items()
    }
    arrays["train_loss"][1, 3:] = np.nan, np.inf, 1e-40
    clock_of = {name: clock for name, (clock, _) in shapes.items()}
    facts = {"entropy": np.array([0.1, 1 / 3], np.float32), "diverged_at": np.array([-1, 4])}
    cell = Cell(Settings(Chain(references=(2, 6))), SEEDS)
    with Store(tmp_path_factory.mktemp("runs")).open(cell) as work:
        return work.place(Trajectory(SEEDS, clocks, arrays, clock_of, facts), {})


def read_csv(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_number_has_its_row_and_reads_back_as_the_same_float(record, tmp_path):
    rows = read_csv(export(record, tmp_path / "run.csv"))
    trajectory = record.trajectory
    found = Counter(row["quantity"] for row in rows)
    wanted = {**trajectory.arrays, **trajectory.facts}
    assert found == {name: values.size for name, values in wanted.items() if name != "attention"}
    for row in rows:
        seed = SEEDS.index(int(row["seed"]))
        if row["quantity"] in trajectory.facts:
            value = trajectory.facts[row["quantity"]][seed]
            assert row["clock"] == row["time"] == ""
        else:
            times = trajectory.times(row["quantity"])
            axes = {"lag": int(row["lag"] or 1) - 1, "reference": (2, 6).index(int(row["reference"] or 2))}
            names = ("layer", "head", "lag", "rung", "reference", "index_0", "index_1")
            place = [axes.get(name, int(row[name] or 0)) for name in names if row[name] != ""]
            value = trajectory[row["quantity"]][seed, list(times).index(float(row["time"])), *place]
        assert value.dtype.type(row["value"]).tobytes() == value.tobytes()


def test_columns_that_no_quantity_uses_are_left_out(record, tmp_path):
    path = export(record, tmp_path / "loss.csv", quantities=["train_loss"])
    assert path.read_text().splitlines()[0] == "seed,clock,time,quantity,value"


def test_attention_matrices_come_only_when_asked_for(record, tmp_path):
    rows = read_csv(export(record, tmp_path / "attention.csv", quantities=["attention"]))
    assert len(rows) == record.trajectory["attention"].size
    assert {row["key"] for row in rows} == {"0", "1", "2", "3", "4"}


def test_a_flow_has_its_attention_in_the_table_and_counts_positions_and_features_from_1(tmp_path):
    with Store(tmp_path).open(Cell(FLOW, SEEDS)) as work:
        flow = work.place(made_flow(FLOW, SEEDS), {})
    rows = read_csv(export(flow, tmp_path / "flow.csv"))
    assert list(rows[0]) == ["seed", "clock", "time", "quantity", "head", "position", "feature", "value"]
    places = {
        quantity: [
            {row[axis] for row in rows if row["quantity"] == quantity} for axis in ("head", "position", "feature")
        ]
        for quantity in ("attention", "values", "loss_parts", "boundaries")
    }
    heads, counted, nothing = {"0", "1", "2"}, {"1", "2", "3"}, {""}
    assert places == {
        "attention": [heads, counted, nothing],
        "values": [heads, nothing, counted],
        "loss_parts": [nothing, counted, counted],
        "boundaries": [nothing, nothing, counted],
    }


def test_parquet_holds_the_same_table_as_csv(record, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    texts = read_csv(export(record, tmp_path / "run.csv"))
    table = parquet.read_table(export(record, tmp_path / "run.parquet"))
    assert table.column_names == list(texts[0])
    for name in table.column_names:
        for text, value in zip((row[name] for row in texts), table[name].to_pylist(), strict=True):
            if name in ("clock", "quantity"):
                assert (value or "") == text
            else:
                assert (value is None and text == "") or np.float32(value).tobytes() == np.float32(text).tobytes()


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_memory_is_bounded_by_the_number_of_rows_and_the_table_does_not_depend_on_it(
    rows, record, tmp_path, monkeypatch
):
    whole = export(record, tmp_path / "whole.csv").read_bytes()
    monkeypatch.setattr(exporting, "ROWS", rows)
    names = list(record.trajectory.arrays)
    assert max(len(batch["value"]) for batch in exporting._batches(record, names)) <= rows
    assert export(record, tmp_path / "pieces.csv").read_bytes() == whole


def test_an_existing_file_is_kept_unless_told_otherwise(record, tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("mine")
    with pytest.raises(ExportError, match=r"run\.csv exists\. Choose another name, or overwrite it"):
        export(record, path)
    assert path.read_text() == "mine"
    export(record, path, overwrite=True)
    assert path.read_text().startswith("seed,")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_failure_on_the_way_leaves_the_old_file_and_nothing_else(suffix, record, tmp_path, monkeypatch):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"run.{suffix}"
    path.write_text("mine")

    def fail(*arguments):
        yield from whole(*arguments)
        raise OSError(28, "No space left on device")

    whole = exporting._batches
    monkeypatch.setattr(exporting, "_batches", fail)
    with pytest.raises(ExportError, match=rf"run\.{suffix} could not be written: No space left on device"):
        export(record, path, overwrite=True)
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [(path.name, "mine")]


@pytest.mark.parametrize(
    ("name", "quantities", "text"),
    [
        ("run.xlsx", None, r"ends in '\.xlsx', but a table ends in \.csv or \.parquet"),
        ("missing/run.csv", None, "missing is not a folder. Make it first"),
        ("run.csv", ["los"], "the record has no 'los'. It has .*train_loss.*entropy"),
    ],
)
def test_what_cannot_be_exported_is_explained(name, quantities, text, record, tmp_path):
    with pytest.raises(ExportError, match=text):
        export(record, tmp_path / name, quantities=quantities)
    assert list(tmp_path.iterdir()) == []


def test_without_pyarrow_parquet_names_the_extra_to_install(record, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExportError, match=r"pip install '\.\[parquet\]'.*\. Or export to \.csv"):
        export(record, tmp_path / "run.parquet")
    assert list(tmp_path.iterdir()) == []
