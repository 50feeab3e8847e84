"""The presets of paper A: what is printed, what was run, and that they differ in nothing else."""

from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from headway import presets, published
from headway.experiments import find
from headway.tasks.run import Settings


def differences(left: Any, right: Any, where: str = "") -> dict[str, tuple[Any, Any]]:
    """Name of a setting -> its two values, where they differ."""
    if is_dataclass(left):
        found: dict[str, tuple[Any, Any]] = {}
        for field in fields(left):
            found |= differences(getattr(left, field.name), getattr(right, field.name), f"{where}.{field.name}")
        return found
    return {} if left == right else {where.removeprefix("."): (left, right)}


def test_printed_and_as_run_minimal_models_differ_in_weighting_scores_rate_and_schedule():
    assert differences(presets.minimal_printed(), presets.minimal_as_run()) == {
        "task.weighting": ("mean", "sum"),
        "model.scaled_scores": (False, True),
        "training.learning_rate": (0.003, 0.08),
        "training.schedule": ("plateau", "constant"),
    }


def test_printed_and_as_run_full_models_differ_in_weighting_schedule_dropout_and_start():
    assert differences(presets.full_printed(), presets.full_as_run()) == {
        "task.weighting": ("mean", "sum"),
        "training.schedule": ("plateau", "constant"),
        "training.dropout": ("always", "first-of-epoch"),
        "model.attention_dropout": (False, True),
        "model.initialisation": ("xavier", "orthogonal"),
    }


def test_what_ran_differs_from_what_is_printed_in_its_chains_and_starts():
    """The rows of the table of presets that belong to one experiment each."""
    online, unequal, overlapping = (find(name).grids["as-run"] for name in ("online", "nonuniform", "overlapping"))
    fresh = online["fresh data"]
    assert (fresh.training.data, fresh.training.batch) == ("fresh", 3000)
    assert (fresh.model.initialisation, fresh.model.scale, fresh.model.embedding) == ("uniform", 1e-9, "one-hot")
    weights = unequal["unequal weights"].task.lag_weights()
    assert [list(row[row > 0]) for row in weights] == [[0.3, 0.7]] * 3, "lag by lag, the newest first"
    for heads, run in zip((3, 4), overlapping.values(), strict=True):
        assert run.task.blocks == ((1, 2, 3, 4), (3, 4, 5, 6), (5, 6, 7, 8))
        assert (run.model.heads, run.model.embedding, run.model.readout) == (heads, "one-hot", False)
    flow = find("flow").grids
    assert (flow["printed"]["flow"].noise, flow["as-run"]["flow"].noise) == (1e-6, 1e-12), "variances"
    assert [run.task.ratio for run in find("reversed").grids["as-run"].values()] == [3.0, 1.7, 1.7]
    two = {
        name: run.training.samples
        for name, run in find("two-layers").grids["as-run"].items()
        if "full, two layers" in name
    }
    assert list(two.values()) == [9000, 27_000]


@pytest.mark.parametrize("experiment", ["ladder", "nonuniform", "overlapping", "sgd"])
def test_where_a_figure_shows_n_gram_models_they_are_trained(experiment):
    """Figures 3, 13, 15 and 18: a context that ends where each block ends."""
    run = next(iter(find(experiment).grids["as-run"].values()))
    assert run.task.references == tuple(sorted(max(block) for block in run.task.blocks))


def test_every_full_model_of_the_as_run_grids_drops_attention_and_starts_orthogonal():
    """But for those that are there to show what these do."""
    names = ("attention", "ladder", "ablations", "reversed", "weight-decay", "two-layers", "sgd", "positions", "depth")
    for name in names:
        for run, settings in find(name).grids["as-run"].items():
            model = settings.model
            if model.residual and model.dropout and run != "SGD, model as printed":
                assert (model.attention_dropout, model.initialisation) == (True, "orthogonal"), (name, run)


PAPER_SCALE = {
    "minimal, printed": presets.minimal_printed(),
    "minimal, as run": presets.minimal_as_run(),
    "full, printed": presets.full_printed(),
    "full, as run": presets.full_as_run(),
}
each_at_paper_scale = pytest.mark.parametrize("settings", PAPER_SCALE.values(), ids=PAPER_SCALE)


@each_at_paper_scale
def test_what_the_papers_tables_have_in_common(settings: Settings):
    task, training = settings.task, settings.training
    assert (task.vocab, len(task.blocks), task.ratio, task.base, task.horizon) == (50, 3, 1.7, 10, 20)
    assert (training.samples, training.test_samples, training.batch, training.steps) == (9000, 3000, 3000, 2000)
    assert training.steps_per_epoch == 3
    assert (training.optimiser, training.weight_decay, training.clip, training.data) == ("adamw", 0.01, 1.0, "finite")
    assert (training.patience, training.factor) == (10, 0.5)
    assert (settings.model.heads, settings.model.layers, settings.model.scale) == (3, 1, 1.0)
    assert settings.task.context is None and settings.references == ()


@each_at_paper_scale
def test_the_steps_that_figure_2_shows_are_measured(settings: Settings):
    assert {0, 60, 300, 1000} <= set(settings.evaluation.also)


@pytest.mark.parametrize("settings", [presets.minimal_printed(), presets.minimal_as_run(), presets.minimal_quick()])
def test_the_minimal_model_is_merged_scores_and_values_and_nothing_else(settings: Settings):
    model, task = settings.model, settings.task
    assert task.blocks == ((1, 2), (3, 4), (5, 6))
    assert (model.embedding, model.positions, model.norm) == ("one-hot", "one-hot", "none")
    assert not (model.keys or model.output or model.residual or model.mlp or model.readout or model.dropout)
    assert model.stream(task.vocab, task.length) == task.vocab + task.horizon + task.start - 1, "E = d + T + w - 1"


@pytest.mark.parametrize("settings", [presets.full_printed(), presets.full_as_run()])
def test_the_full_model_has_three_heads_of_85_and_a_layer_of_64(settings: Settings):
    model = settings.model
    assert settings.task.blocks == ((1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12))
    assert (model.width // model.heads, model.width % model.heads, model.mlp, model.dropout) == (85, 0, 64, 0.1)
    assert (model.embedding, model.positions, model.norm) == ("learned", "learned", "post")
    assert model.keys and model.output and model.residual and model.readout
    assert settings.training.learning_rate == 0.003


@pytest.mark.parametrize("quick, whole", [(presets.minimal_quick(), presets.minimal_as_run()),
                                          (presets.full_quick(), presets.full_as_run())])  # fmt: skip
def test_a_quick_preset_is_the_run_one_made_smaller(quick: Settings, whole: Settings):
    sizes = {
        *("task.vocab", "task.blocks", "task.horizon", "model.width", "model.mlp"),
        *("training.steps", "training.batch", "training.samples", "training.test_samples", "training.precision"),
        *("evaluation.points", "evaluation.also", "evaluation.snapshots"),
    }
    changed = differences(quick, whole)
    assert changed.keys() <= sizes
    for name in ("training.steps", "training.batch"):
        assert changed[name][0] < changed[name][1]


@pytest.mark.parametrize("experiment, run", published.STAGE_ENDS)
def test_what_is_published_is_about_a_run_that_is_made_and_lies_within_it(experiment, run):
    settings = find(experiment).grids["as-run"][run]
    ends = published.STAGE_ENDS[experiment, run]
    assert 1 <= len(ends) < len(settings.task.blocks)
    assert list(ends) == sorted(set(ends))
    assert ends[0] > 0 and ends[-1] < settings.training.steps


def test_published_plateaus_go_down_and_belong_to_a_run_whose_ends_are_published_too():
    for place, levels in published.PLATEAUS.items():
        assert len(levels) == len(published.STAGE_ENDS[place]) + 1
        assert list(levels) == sorted(levels, reverse=True)
    assert published.STAGE_ENDS["ladder", "full"] == (65, 450)


@pytest.mark.parametrize("bases", [presets.MINIMALS, presets.FULLS])
def test_every_grid_has_a_base_and_a_number_of_seeds(bases):
    assert set(bases) == set(presets.FEW_SEEDS) == set(presets.MORE_SEEDS) == {"quick", "printed", "as-run"}
    assert [base() for base in bases.values()] != 3 * [bases["quick"]()]


def test_the_same_runs_are_made_from_the_base_of_every_grid():
    grids = presets.for_each_grid(
        presets.MINIMALS, lambda base: {"base": base, "more": base.changed(task={"context": 4})}
    )
    assert list(grids) == list(presets.MINIMALS)
    for grid, base in presets.MINIMALS.items():
        assert grids[grid] == {"base": base(), "more": base().changed(task={"context": 4})}


@each_at_paper_scale
def test_curves_and_pictures_change_what_is_kept_and_not_what_is_trained(settings: Settings):
    for kept, snapshots in ((presets.curves(settings), 0), (presets.pictures(settings), 12)):
        assert all(name.startswith("evaluation.") for name in differences(kept, settings))
        assert kept.evaluation.snapshots == snapshots
        assert not kept.evaluation.comparisons


@pytest.mark.parametrize("settings", [presets.full_printed(), presets.full_as_run()])
def test_what_goes_beyond_the_paper_is_smaller_and_compares_every_combination_of_blocks(settings: Settings):
    small = presets.small(settings)
    changed = differences(small, settings)
    assert {"task.blocks", "model.width", "training.batch", "training.test_samples"} <= changed.keys()
    assert small.evaluation.comparisons
    untouched = ("task.weighting", "task.vocab", "training.schedule", "training.steps", "training.learning_rate")
    assert not changed.keys() & set(untouched)
    assert small.model.width % (2 * small.model.heads) == 0, "rotary positions turn pairs of coordinates"
