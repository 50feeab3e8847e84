"""What the grids hold, and what is drawn of them."""

from collections import Counter

import pytest
from tests.experiments.made import made_run

from headway.experiments import NAMES, find
from headway.presets import beside_ngrams
from headway.published import PLATEAUS, STAGE_ENDS

EVERY_GRID = ("quick", "printed", "as-run"), ("quick", "paper")
"""Those of paper A, and those of paper B."""
each_experiment = pytest.mark.parametrize("name", NAMES)


@each_experiment
def test_every_experiment_has_runs_and_seeds_in_every_grid(name):
    experiment = find(name)
    assert tuple(experiment.grids) == tuple(experiment.seeds)
    assert tuple(experiment.grids) in EVERY_GRID
    assert all(experiment.grids[grid] and experiment.seeds[grid] >= 4 for grid in experiment.grids)


@each_experiment
def test_runs_of_a_grid_all_differ(name):
    for runs in find(name).grids.values():
        twice = [settings for settings, count in Counter(runs.values()).items() if count > 1]
        assert [run for run, settings in runs.items() if settings in twice] == []


def test_a_claim_belongs_to_one_experiment_and_one_place():
    claims = Counter(finding.claim for name in NAMES for finding in find(name).read({}))
    assert [claim for claim, count in claims.items() if count > 1] == []


def test_every_claim_says_what_it_claims_when_a_seed_counts_and_what_is_measured():
    for name in NAMES:
        for finding in find(name).read({}):
            assert finding.statement.endswith((".", ")")) and finding.definition.endswith(".")
            words = f"{finding.statement} {finding.definition} {finding.quantity}"
            assert "docs/" not in words and ".md" not in words, "the page shows it where there is no such file"
            assert finding.quantity and not finding.quantity.endswith(".")


def test_what_is_known_of_the_authors_figures_is_known_of_runs_that_exist():
    for experiment, run in (*STAGE_ENDS, *PLATEAUS):
        assert run in find(experiment).grids["as-run"], f"{experiment} has no run {run}"


@pytest.mark.parametrize("grid, published", [("as-run", ["0.87 published", "0.34", "0.09"]), ("printed", [])])
def test_published_plateaus_stand_beside_what_was_run_whatever_it_was_compared_with(grid, published):
    """The Xavier run may come from a record that has n-gram models beside it."""
    starts = find("init-scale").grids[grid]
    runs = {**starts, "Xavier scale": beside_ngrams(starts["Xavier scale"])}
    figure = find("init-scale").draw({name: (settings, made_run(settings)) for name, settings in runs.items()})
    words = [text.get_text() for axes in figure["figure-4-left"].axes for text in axes.texts]
    assert [word for word in words if word.split()[0] in ("0.87", "0.34", "0.09")] == published


def test_a_small_training_set_has_the_ngram_models_among_which_one_may_choose():
    for grid, runs in find("dataset-size").grids.items():
        whole = {name: settings for name, settings in runs.items() if settings.task.context is None}
        for name, settings in whole.items():
            beside = [other for other, each in runs.items() if other.startswith(f"{name}, n-gram model")]
            few = settings.training.data == "finite" and settings.training.samples < settings.training.batch
            wanted = [f"{name}, n-gram model, c = {context}" for context in (2, 4, 6)] if few else []
            assert beside == wanted, (grid, name)
            models = settings.changed(task={"references": (2, 4, 6)}).references
            assert [runs[other] for other in beside] == list(models[: len(beside)])
