"""What is measured is what the paper has, and scaling changes one number at a time."""

from dataclasses import asdict

import pytest

from benchmarks.bench.cases import AXES, along, axes, case, cases
from benchmarks.bench.small import GROWING, SMALL, SMALL_AXES


def flat(settings: dict, prefix: str = "") -> dict:
    """task.vocab -> 50, and so on."""
    found = {}
    for name, value in settings.items():
        found |= flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return found


@pytest.mark.parametrize(("name", "start", "dropout"), [("minimal", 6, 0), ("full", 12, 0), ("full-dropout", 12, 0.1)])
def test_paper_scale_is_the_papers(name, start, dropout):
    settings = case(name, "paper", False).settings
    task, training = settings.task, settings.training
    assert (task.vocab, task.horizon, task.start, len(task.blocks)) == (50, 20, start, 3)
    assert (settings.model.heads, settings.model.dropout) == (3, dropout)
    assert dropout == 0 or training.dropout == "always"
    assert (training.optimiser, training.weight_decay, training.clip, training.batch) == ("adamw", 0.01, 1.0, 3000)


def test_a_gpu_trains_many_seeds_in_one_program_and_a_cpu_one():
    assert [case(name, "paper", True).seeds for name in ("minimal", "full", "full-dropout")] == [16, 8, 8]
    assert {each.seeds for each in cases("rivals", "paper", False, None)} == {1}


@pytest.mark.parametrize("gpu", [False, True], ids=["cpu", "gpu"])
@pytest.mark.parametrize("model", ["minimal", "full"])
def test_along_an_axis_nothing_else_changes(model, gpu):
    base = case(model, "paper", gpu)
    own = {"batch": 3000, "horizon": 20, "tokens": 50, "heads": 3, "blocks": 3, "seeds": base.seeds}
    assert axes(model, "paper", gpu).keys() == AXES.keys()
    for axis, values in axes(model, "paper", gpu).items():
        assert own[axis] in values or axis == "seeds"
        assert along(base, axis, own[axis]) == base
        for value in set(values) - {own[axis]}:
            changed = along(base, axis, value)
            before, after = ({**flat(asdict(each.settings)), "seeds": each.seeds} for each in (base, changed))
            assert [name.rpartition(".")[2] for name in before if before[name] != after[name]] == [
                {"tokens": "vocab"}.get(axis, axis)
            ]


def test_small_transformers_are_those_of_the_papers_many_seeds_at_once():
    found = {each.name: each for each in cases("transformers", "paper", True, None)}
    assert list(found) == list(SMALL)
    assert {each.seeds for each in found.values()} == {8}
    for name in ("recall", "single-location"):
        assert (found[name].settings.training.batch, found[name].settings.model.width) == (32, 256)
    text = [each.settings for name, each in found.items() if name.startswith("text")]
    assert [(each.model.layers, bool(each.model.mlp), each.task.length) for each in text] == [
        (2, False, 64), (2, True, 64), (4, False, 64), (2, False, 256),
    ]  # fmt: skip
    assert GROWING in {each.name for each in cases("scaling", "paper", False, None)}


def test_a_small_transformer_grows_along_one_axis_at_a_time():
    base = case(GROWING, "paper", False)
    own = {"seeds": 8, "length": 32, "dimension": 16, "layers": 2, "width": 256}
    assert axes(GROWING, "paper", False).keys() == SMALL_AXES.keys() == own.keys()
    for axis, values in axes(GROWING, "paper", False).items():
        assert own[axis] in values
        assert along(base, axis, own[axis]) == base
        changed = along(base, axis, values[0])
        before, after = ({**flat(asdict(each.settings)), "seeds": each.seeds} for each in (base, changed))
        assert [name.rpartition(".")[2] for name in before if before[name] != after[name]] == [axis]


@pytest.mark.parametrize("name", ["minimal", GROWING])
def test_there_is_no_other_axis(name):
    with pytest.raises(ValueError, match="no axis 'depth'"):
        along(case(name, "paper", False), "depth", 2)
