"""The page and its pictures say what the records say."""

import platform
import re
from pathlib import Path

import pytest
from tests.bench.made import EVERY_PART, SPREADS, made

from benchmarks.bench import PARTS
from benchmarks.bench.document import document
from benchmarks.bench.draw import pictures, save
from benchmarks.bench.forms import FORMS
from benchmarks.bench.machine import Others, describe, disturbance, peak_memory
from benchmarks.bench.record import read_all
from benchmarks.bench.tables import duration, table

ROOT = Path(__file__).parent.parent.parent


def rows(part: str) -> list[tuple[str, ...]]:
    return table(part, [made(part)]).rows


def test_the_tables_hold_what_was_measured():
    assert rows("rivals")[0] == ("minimal", "PyTorch", "600 ms", "150 ms", "4.0x", "4.0-4.0", "4.0-4.0")
    assert rows("scaling")[0][1:] == ("batch", "500: 250 ms, 1000: 1 s, 4000: 16 s", "2.00 ± 0.00")
    assert rows("scaling")[1][-1] == "0.00", "two points have no standard error"
    assert rows("start")[0] == ("minimal", "Headway", "1 s", "4 s", "300 MiB", "100 MiB")
    seconds = {"new_line": [1.0], "new_step": [3.0], "again_line": [1.0], "again_step": [2.0]}
    command = made("start", "main-job", measured={f"{name}_seconds": values for name, values in seconds.items()})
    assert [(row[0], *row[2:4]) for row in table("start", [command]).rows] == [
        ("the whole command, nothing kept", "1 s", "3 s"),
        ("the whole command, again", "1 s", "2 s"),
    ]
    assert rows("reduction")[1] == ("100", "20 s", "200 ms", "100x", "100-100", "3e-11")
    assert rows("evaluation")[0][3:] == ("4.00 (2.00 to 9.00)", "100 in 2000 steps", "1.20x")


def test_a_small_transformer_stands_beside_its_floor():
    """3 million operations at 60 million a second are 50 ms, a third of Headway's 150 ms."""
    words = ("minimal", "PyTorch", "600 ms", "150 ms", "4x", "4-4", "4-4", "50 ms", "3.0x")
    assert rows("transformers")[0] == words
    alone = made("transformers", measured={**made("transformers").measured, "rounds": [[], [], []]})
    (row,) = table("transformers", [alone]).rows
    assert row[1] == "(nobody)" and row[3] == "150 ms"
    assert not pictures([alone])


def test_other_models_stand_in_the_order_of_their_list_and_without_a_floor_where_none_was_counted():
    row = ("full, 12-gram", "PyTorch", "600 ms", "150 ms", "4x", "4-4", "4-4", "not measured", "")
    assert table("forms", [made("forms", "full-12-gram")]).rows[0] == row
    assert list(pictures([made("forms", name) for name in FORMS])) == ["forms-paper-cpu"]


def test_records_that_kept_no_single_times_are_shown_and_say_so():
    older = made("transformers", "text", measured=SPREADS)
    (row,) = table("transformers", [older]).rows
    wanted = ("text", "torch.compile, CUDA graphs", "6 ms", "2 ms", "3x", "2.5-3.5", "2-4", "not measured", "")
    assert row == wanted
    page = document([older], Path("b"), Path("docs"), "headway bench --from b")
    assert "Only the quartiles and the range were kept, not the individual times, for these models: text." in page
    assert "the number of rounds was not kept" in page
    assert "only the quartiles" not in document(EVERY_PART, Path("b"), Path("docs"), "headway bench --from b")


@pytest.mark.parametrize(("seconds", "words"), [(4.2e-5, "42 µs"), (0.0471, "47.1 ms"), (2.5, "2.5 s"), (95, "95 s")])
def test_a_duration_has_the_unit_that_suits_it(seconds, words):
    assert duration(seconds) == words


def test_the_page_has_every_part_its_command_and_the_machine():
    page = document(EVERY_PART, Path("benchmarks"), Path("docs"), "headway bench --from benchmarks")
    assert all(f"`headway bench --what {part}`" in page for part in PARTS)
    assert "`headway bench --what rivals`; 3 rounds, other processes used up to 31 % of the CPU, too much" in page
    assert "Abacus 9, 2 cores, 8 GiB" in page
    assert "jax 0.10.2" in page and "torch None" not in page
    assert "](../benchmarks/scaling-minimal-paper-cpu.png)" in page
    assert "show that everything works" not in page


def test_quick_shapes_are_left_out_of_the_page_or_called_by_their_name():
    quick = [made("rivals", scale="quick")]
    assert "nothing about how fast" in document(quick, Path("b"), Path("docs"), "headway bench --from b")
    both = document([*EVERY_PART, *quick], Path("b"), Path("docs"), "headway bench --from b")
    assert both == document(EVERY_PART, Path("b"), Path("docs"), "headway bench --from b")


def test_every_picture_that_a_page_shows_is_drawn_and_drawn_the_same_twice(tmp_path):
    page = document(EVERY_PART, Path(), Path(), "headway bench --from .")
    assert {f"{name}.png" for name in pictures(EVERY_PART)} == set(re.findall(r"\]\(\./(.+?\.png)\)", page))
    first, again = (
        [save(figure, tmp_path / f"{name}.png").read_bytes() for name, figure in pictures(EVERY_PART).items()]
        for _ in range(2)
    )
    assert first == again


def test_the_committed_page_is_what_the_committed_records_give():
    """If this fails, run the command that docs/speed.md names."""
    page = (ROOT / "docs" / "speed.md").read_text()
    (command,) = re.findall(r"made from the records by `(headway bench [^`]*)`", page)
    assert command == "headway bench --from benchmarks --document docs/speed.md"
    assert document(read_all(ROOT / "benchmarks"), Path("benchmarks"), Path("docs"), command) == page
    for picture in re.findall(r"\]\((.+?\.png)\)", page):
        assert (ROOT / "docs" / picture).is_file()


def test_a_machine_is_described_without_its_name():
    machine = describe("cpu: cpu")
    assert machine["cores"] >= 1
    assert machine["versions"]["numpy"]
    assert platform.node() not in str(machine)
    assert peak_memory() > 2**20


def test_what_this_process_does_is_not_charged_to_others(monkeypatch):
    """Two cores for ten seconds: 12 busy seconds, of which 8 were ours, leave a fifth of the machine to others."""
    looks = iter([(100.0, 3.0, 0.0), (112.0, 11.0, 10.0), None])
    monkeypatch.setattr(Others, "_now", lambda self: next(looks))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    others = Others()
    assert others.share() == pytest.approx(0.2)
    assert others.share() is None


def test_a_busy_machine_is_remarked_upon():
    assert disturbance({"load": 0.1, "cores": 2}) is None
    assert "was busy" in (disturbance({"load": 2.0, "cores": 2}) or "")
