"""What runs and their figures are called on a page."""

from types import SimpleNamespace
from typing import Any, cast

from headway.experiments.run_names import figures_title, in_text, own_name, run_label

FIGURE = "Paper A, Figure 1: KL to the rungs over training."


def _outcome(grid: str = "quick", title: str = FIGURE, **changes: Any) -> Any:
    experiment = SimpleNamespace(title=title)
    return cast(Any, SimpleNamespace(grid=grid, called="stages", experiment=experiment, changes=changes))


def test_a_run_is_named_with_its_grid_and_what_was_changed_as_it_is_typed():
    assert run_label("minimal", _outcome()) == "minimal, quick"
    changed = _outcome(**{"task.blocks": [[1, 2], [3, 4, 7]], "model.heads": 2, "model.keys": False})
    assert run_label("minimal", changed) == "minimal, quick, blocks 1-2 3-4,7, heads 2, no keys"
    twice = _outcome(**{"model.dropout": 0.1, "training.dropout": "never"})
    assert run_label("minimal", twice) == "minimal, quick, model.dropout 0.1, training.dropout never"
    weights = _outcome(**{"task.weights": [[0.7, 0.3], [0.5, 0.5]]})
    assert run_label("minimal", weights) == "minimal, quick, weights 0.7,0.3 0.5,0.5"


def test_of_much_that_was_changed_each_change_is_named_whole_or_counted():
    name = run_label("minimal", _outcome(**{f"task.setting_{n}": n for n in range(50)}))
    assert name == "minimal, quick, setting-0 0, setting-1 1, setting-2 2, 47 more changes"
    long = run_label("minimal", _outcome(**{"task.blocks": [[k, k + 2] for k in range(1, 40, 4)], "model.heads": 2}))
    assert long == "minimal, quick, 2 settings changed"


def test_figures_of_somebodys_own_runs_are_not_headed_by_the_papers_figure():
    assert figures_title(_outcome("as-run")) == FIGURE and own_name(_outcome("as-run")) == ""
    assert figures_title(_outcome()) == "stages: KL to the rungs over training."
    assert figures_title(_outcome("as-run", **{"model.heads": 2})) == "stages, heads 2: KL to the rungs over training."
    assert own_name(_outcome(**{"model.heads": 2})) == "stages, quick, heads 2"
    assert figures_title(_outcome(title="My own experiment.")) == "My own experiment."


def test_the_paper_is_named_in_the_text_as_what_the_experiment_is_modelled_on():
    words = "KL to the rungs over training. The experiment is modelled on paper A, Figure 1."
    assert in_text(FIGURE) == words and in_text("My own experiment.") == "My own experiment."
