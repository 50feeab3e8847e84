"""What lies in the folder unchanged is not drawn again; whatever could change a figure draws it again."""

from types import SimpleNamespace

import pytest

from headway.report.figures import kept

KEY = "key"


def record(checksum: str = "a", identity: str = "markov-1"):
    return SimpleNamespace(identity=identity, files={"trajectory.safetensors": {"bytes": 1, "sha256": checksum}})


@pytest.fixture
def folder(tmp_path):
    for name in ("stages-quick-a.png", "stages-quick-a.svg"):
        (tmp_path / name).write_bytes(name.encode())
    kept.keep(tmp_path, "stages-quick", KEY, sorted(tmp_path.iterdir()))
    return tmp_path


def test_files_that_were_drawn_from_the_same_are_given_back_in_their_order(folder):
    found = kept.drawn_before(folder, "stages-quick", KEY)
    assert found == [folder / "stages-quick-a.png", folder / "stages-quick-a.svg"]
    kept.keep(folder, "ladder-quick", "other", found[:1])
    assert kept.drawn_before(folder, "stages-quick", KEY) == found, "another group's note does not remove it"
    assert kept.drawn_before(folder, "ladder-quick", "other") == found[:1]


@pytest.mark.parametrize("change", ["key", "group", "altered", "removed", "damaged", "a list"])
def test_whatever_differs_is_drawn_again(folder, change):
    if change == "altered":
        (folder / "stages-quick-a.svg").write_bytes(b"edited by hand")
    if change == "removed":
        (folder / "stages-quick-a.png").unlink()
    if change == "damaged":
        (folder / kept.NAME).write_text("{")
    if change == "a list":
        (folder / kept.NAME).write_text("[1]")
    group, key = "ladder-quick" if change == "group" else "stages-quick", "new" if change == "key" else KEY
    assert kept.drawn_before(folder, group, key) is None


def test_other_numbers_other_runs_and_other_code_have_another_key(monkeypatch):
    first = kept.key_of({"minimal": record()})
    assert first == kept.key_of({"minimal": record()})
    others = [{"minimal": record("b")}, {"full": record()}, {"minimal": record(identity="markov-2")}, {}]
    assert first not in {kept.key_of(each) for each in others}
    monkeypatch.setattr(kept, "_code", lambda: "changed")
    assert kept.key_of({"minimal": record()}) != first
