"""Where the time of several processes went, and how far they are, in the eighty columns of a log."""

import io
import re

from rich.console import Console

from headway.cli.spent_table import show_ending, show_working
from headway.cli.sweep_screen import SweepScreen, corrected
from headway.sweep.tally import SPENT, Tally, Working


def _logged() -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return Console(file=file, width=80, color_system=None), file


def test_the_table_is_whole_in_eighty_columns_with_hours_and_twelve_processes():
    console, file = _logged()
    spent = dict.fromkeys(SPENT, 2500.0)
    show_working(console, [Working(n, "device", "ended", programs=14, spent=spent, seconds=15500.0) for n in range(12)])
    lines = file.getvalue().splitlines()
    heading = next(line for line in lines if "process" in line)
    assert heading.split() == ["process", "done", *SPENT, "all"] and "…" not in file.getvalue()
    assert lines[-2].split()[:2] == ["together", str(12 * 14)] and max(map(len, lines)) <= 80
    assert lines[-1].split() == ["16%", "16%", "16%", "16%", "16%", "19%"]


def test_a_line_tells_what_came_after_the_last_training():
    console, file = _logged()
    show_ending(console, {"claims": 1.0, "page": 2.0}, processes=1)
    assert file.getvalue() == "", "nobody asks about seconds"
    show_ending(console, {"claims": 2.0, "page": 2.5, "figures": 7.0}, processes=8, early=20)
    assert file.getvalue() == (
        "0:12 from records to the page: claims 0:02, page 0:02, figures 0:07 by 8 processes "
        "(20 grids drawn during training)\n"
    )


def test_a_line_of_the_log_tells_the_step_of_each_process():
    console, file = _logged()
    working = (
        Working(0, "device", "working", run="8-gram", members=10, step=400, steps=2000),
        Working(1, "device", "working", run="full", members=10, steps=1000),
        Working(2, "device", "waiting"),
    )
    SweepScreen("processes", console).tell(Tally(done=1, failed=0, running=2, stale=0, left=0, working=working))
    told = " ".join(file.getvalue().split())
    assert told.startswith("processes: 1 of 3 done, 2 running, ") and told.endswith(
        "at step 400/2000 (8-gram), compiling (full)"
    )


def test_the_time_that_is_left_is_the_plan_s_as_far_as_it_was_right():
    assert corrected(100.0, 100.0, 0.0) == 100, "nothing is known yet"
    assert corrected(50.0, 100.0, 50.0) == 50, "all as planned"
    assert 70 < corrected(50.0, 100.0, 100.0) < 100, "half of it took twice as long, and the rest may"
    assert corrected(0.0, 100.0, 300.0) == 0


def test_a_line_tells_what_is_left_by_the_plan_or_by_the_pace():
    console, file = _logged()
    screen = SweepScreen("processes", console)
    screen.tell(Tally(done=0, failed=0, running=2, stale=0, left=9, ahead=300.0))
    screen.tell(Tally(done=1, failed=0, running=2, stale=0, left=8, ahead=280.0))
    screen.tell(Tally(done=1, failed=0, running=1, stale=0, left=9))  # others, who tell nothing
    screen.tell(Tally(done=11, failed=0, running=0, stale=0, left=0, ahead=0.0))
    lines = " ".join(file.getvalue().split()).split("processes: ")
    assert "about 5:00 left" in lines[1]
    assert re.search(r"about [34]:\d\d left", lines[2]), "sooner than planned"
    assert "about 0:00 left" in lines[3] and "about" not in lines[4]
