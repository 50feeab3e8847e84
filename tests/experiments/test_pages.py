"""What runs are called on a page."""

from types import SimpleNamespace
from typing import Any, cast

from headway.experiments.pages import run_label


def _outcome(**changes: Any) -> Any:
    return cast(Any, SimpleNamespace(grid="quick", changes=changes))


def test_a_run_is_named_with_its_grid_and_what_was_changed():
    assert run_label("minimal", _outcome()) == "minimal, quick"
    changed = _outcome(**{"task.ratio": 1.3, "model.heads": 2})
    assert run_label("minimal", changed) == "minimal, quick, task.ratio 1.3, model.heads 2"


def test_of_much_that_was_changed_the_beginning_is_shown():
    name = run_label("minimal", _outcome(**{f"task.setting_{n}": n for n in range(50)}))
    assert name.startswith("minimal, quick, task.setting_0 0") and name.endswith("…") and len(name) < 120
