"""What goes in comes out: every bit, type, shape and setting."""

import json
from dataclasses import replace

import numpy as np
import pytest

from headway.records import Cell, Trajectory
from headway.store import Store, StoreError, arrays, load
from headway.tasks.chain import Chain
from headway.tasks.construction import ConstructionSettings
from headway.tasks.run import Settings


def test_a_record_comes_back_bit_for_bit(store, worker, expected, same):
    with store.open(worker.CELL) as work:
        returned = worker.compute(work)
    record = store.load(worker.CELL)
    assert same(record.trajectory, expected)
    assert same(returned, expected)
    assert record.cell == worker.CELL
    assert record.provenance["device"] == "none"
    assert record.weights()["x"].dtype == np.float64


def test_one_line_loads_an_array(record):
    assert load(str(record.path)).trajectory["kl_rungs"].shape == (3, 5, 4)


def test_a_checkpoint_keeps_every_type_and_shape_that_a_run_may_need(store, worker):
    generator = np.random.default_rng(0)
    types = arrays.TYPES
    checkpoint = {f"model/{name}": generator.integers(0, 2, (3, 4)).astype(name) for name in types}
    checkpoint |= {"scalar": np.array(2.5), "empty": np.zeros((2, 0, 3), np.float32)}
    checkpoint["odd floats"] = np.array([np.nan, -0.0, np.inf, 5e-324, -np.nan])
    with store.open(worker.CELL) as work:
        work.resume()
        work.save(None, checkpoint, 7)
    with store.open(worker.CELL) as work:
        resumed = work.resume()
    assert resumed.position == 7
    assert resumed.checkpoint is not None
    assert resumed.checkpoint.keys() == checkpoint.keys()
    for name, values in checkpoint.items():
        back = resumed.checkpoint[name]
        assert (back.dtype, back.shape, back.tobytes()) == (values.dtype, values.shape, values.tobytes()), name


def test_views_are_stored_as_they_read_and_not_as_they_lie_in_memory(store, worker):
    """safetensors copies memory, and the memory of a transpose or a slice is in another order."""
    grid = np.arange(24.0).reshape(4, 6)
    views = {
        "transposed": grid.T,
        "sliced": grid[::2, 1::2],
        "reversed": grid[::-1],
        "big-endian": grid.astype(">f8"),
    }
    with store.open(worker.CELL) as work:
        work.resume()
        work.save(None, views, 1)
    with store.open(worker.CELL) as work:
        checkpoint = work.resume().checkpoint
    for name, view in views.items():
        np.testing.assert_array_equal(checkpoint[name], view)


@pytest.mark.parametrize("values", [np.array(["a"]), np.array([{}], object), np.zeros(1, np.complex128)])
def test_an_array_that_could_not_be_read_back_is_refused_before_anything_is_written(store, worker, values):
    with store.open(worker.CELL) as work:
        work.resume()
        with pytest.raises(ValueError, match="'odd' is of type"):
            work.save(None, {"odd": values}, 1)
        assert work.resume().position == 0


def test_names_with_slashes_do_not_collide(store, worker):
    seeds, ticks = worker.SEEDS, np.arange(2.0)
    trajectory = Trajectory(
        seeds=seeds,
        clocks={"facts/a": ticks, "a": ticks + 1},
        arrays={"clocks/a": np.ones((3, 2)), "a": np.zeros((3, 2)), "arrays/a": np.full((3, 2), 2.0)},
        clock_of={"clocks/a": "a", "a": "facts/a", "arrays/a": "a"},
        facts={"a": np.full(3, 3.0)},
    )
    with store.open(worker.CELL) as work:
        back = work.place(trajectory, {}).trajectory
    assert {name: values.flat[0] for name, values in back.arrays.items()} == {
        "clocks/a": 1,
        "a": 0,
        "arrays/a": 2,
    }
    assert back.times("a")[0] == 0
    assert back.facts["a"][0] == 3


def test_settings_come_back_as_the_same_cell(store):
    task = Chain(weighting="given", weights=((0.7, 0.3), (1.0, 2.0), (0.5, 0.5)), base=7.0, order=9, references=(2, 4))
    cell = Cell(Settings(task=task), (0,))
    with store.open(cell) as work:
        work.place(Trajectory((0,), {"step": np.arange(2)}, {"x": np.zeros((1, 2))}, {"x": "step"}), {})
    [record] = store.records()
    assert record.cell == cell
    assert record.cell.identity == cell.identity == record.path.name


def test_a_record_is_found_by_its_settings(store, worker):
    cells = [replace(worker.CELL, settings=Settings(task=Chain(ratio=ratio))) for ratio in (1.3, 1.5)]
    for cell in cells:
        with store.open(cell) as work:
            worker.compute(work)
    [record] = store.records(lambda cell: cell.settings.task.ratio == 1.5)
    assert record.cell == cells[1]


def test_not_a_number_never_reaches_a_record(store, worker):
    """JSON has no NaN; what a caller measured as NaN belongs into an array."""
    with store.open(worker.CELL) as work:
        work.resume()
        with pytest.raises(ValueError, match="Out of range float"):
            work.place(worker.advance(worker.start(), 8)[0], {"seconds": float("nan")})
    assert not store.has(worker.CELL)


@pytest.fixture
def hand_made(store) -> Cell:
    """A cell of another kind, stored."""
    cell = Cell(ConstructionSettings(Chain(ratio=1.3), (0, 2.5), test_samples=7), (5, 3))
    excess = {"excess_loss": np.array([[2, 0.25], [3, 0.5]], np.float32)}
    trajectory = Trajectory(cell.seeds, {"sharpness": np.array([0, 2.5])}, excess, {"excess_loss": "sharpness"})
    with store.open(cell) as work:
        work.place(trajectory, {"device": "none"})
    return cell


def test_the_settings_say_what_kind_of_cell_it_is_and_its_folder_too(store, worker, hand_made):
    assert (hand_made.kind, worker.CELL.kind) == ("construction", "markov")
    assert hand_made.identity.startswith("construction-")
    assert [path.name for path in store.root.iterdir()] == [hand_made.identity]
    assert Cell(Settings(), (0,)) == Cell(Settings(), (0,), "markov")


def test_a_hand_made_cell_is_kept_and_found_among_the_others(store, worker, hand_made):
    with store.open(worker.CELL) as work:
        worker.compute(work)
    assert store.has(hand_made)
    found = store.load(hand_made)
    assert found.cell == hand_made
    assert found.cell.settings.sharpness == (0.0, 2.5)
    np.testing.assert_array_equal(found.trajectory["excess_loss"], [[2, 0.25], [3, 0.5]])
    np.testing.assert_array_equal(found.trajectory.times("excess_loss"), [0, 2.5])
    assert {record.cell.kind for record in store.records()} == {"construction", "markov"}
    [chosen] = store.records(lambda cell: isinstance(cell.settings, ConstructionSettings))
    assert chosen.cell == hand_made


def test_a_list_tells_hand_made_cells_by_what_is_not_the_default(store, hand_made):
    [entry] = store.status()
    assert entry.summary == "2 seeds; task.ratio=1.3, sharpness=[0.0, 2.5], test_samples=7"


def test_a_small_copy_has_coarse_attention_of_the_same_type_and_the_loss_of_every_tenth_step(
    record, store, worker, tmp_path, same
):
    copy = store.copy_small(worker.CELL, Store(tmp_path / "slim"))
    full, small = record.trajectory, load(copy.path).trajectory
    np.testing.assert_array_equal(
        small["attention_by_lag"], full["attention_by_lag"].astype(np.float16).astype(np.float32)
    )
    np.testing.assert_allclose(small["attention"], full["attention"], rtol=0, atol=0.5 / 254 + 1e-7)
    for name in ("attention", "attention_by_lag"):
        assert small[name].dtype == full[name].dtype
        assert (small[name] != full[name]).any()
    assert list(small.clocks["step"]) == [10, 20]
    np.testing.assert_array_equal(small["train_loss"], full["train_loss"][:, [9, 19]])
    rest = {name: full[name] for name in ("attention", "attention_by_lag", "train_loss")}
    assert same(replace(small, clocks=full.clocks, arrays={**small.arrays, **rest}), full), "nothing else is changed"


def test_a_small_copy_has_no_weights_and_says_what_it_lacks(record, store, worker, tmp_path):
    copy = store.copy_small(worker.CELL, Store(tmp_path / "slim"))
    assert copy.provenance == record.provenance
    half, byte = {"from": "float32", "to": "float16"}, {"from": "float32", "to": "steps"}
    assert json.loads((copy.path / "record.json").read_text())["reduced"] == {
        "weights": "left out",
        "arrays": {"attention": byte, "attention_by_lag": half},
        "clocks": {"step": "every 10th"},
    }
    with pytest.raises(StoreError, match=r"the weights were not kept\. Train .* with --keep-weights"):
        copy.weights()


def test_a_record_without_steps_attention_and_weights_is_not_reduced(store, hand_made, tmp_path, same):
    """Its clock need not tick at whole numbers."""
    copy = store.copy_small(hand_made, Store(tmp_path / "slim"))
    assert same(copy.trajectory, store.load(hand_made).trajectory)
    assert copy.reduced == {"arrays": {}}


def test_a_small_copy_of_a_small_copy_is_the_same_copy(record, store, worker, tmp_path):
    once, twice = Store(tmp_path / "once"), Store(tmp_path / "twice")
    first = store.copy_small(worker.CELL, once)
    second = once.copy_small(worker.CELL, twice)
    for name in ("record.json", "trajectory.safetensors"):
        assert (second.path / name).read_bytes() == (first.path / name).read_bytes()


def test_a_copy_never_replaces_a_record_that_is_there(record, store, worker, tmp_path, fingerprint):
    slim = Store(tmp_path / "slim")
    with slim.open(worker.CELL) as work:
        worker.compute(work)
    before = fingerprint(slim.root)
    assert store.copy_small(worker.CELL, slim).has_weights
    assert fingerprint(slim.root) == before
