"""Records on disk: whole, in order, and refused if somebody changed them."""

import pytest
from tests.bench.made import EVERY_PART, made

from benchmarks.bench.forms import FORMS
from benchmarks.bench.record import BenchError, read, read_all, write


def test_what_is_written_is_read_back(tmp_path):
    for record in EVERY_PART:
        assert read(write(record, tmp_path)) == record
    assert read_all(tmp_path) == EVERY_PART


def test_other_models_come_in_the_order_of_their_list(tmp_path):
    for name in reversed(FORMS):
        write(made("forms", name), tmp_path)
    assert [record.case for record in read_all(tmp_path)] == list(FORMS)


def test_quick_shapes_never_replace_paper_scale(tmp_path):
    write(made("rivals"), tmp_path)
    write(made("rivals", scale="quick"), tmp_path)
    assert [record.scale for record in read_all(tmp_path)] == ["paper", "quick"]


def test_an_edited_record_is_refused_by_name(tmp_path):
    path = write(made("rivals"), tmp_path)
    path.write_text(path.read_text().replace("Abacus 9", "Abacus 10"))
    with pytest.raises(BenchError, match=rf"{path.name} cannot be read.*Remove it"):
        read_all(tmp_path)


def test_pictures_and_readme_beside_the_records_are_no_records(tmp_path):
    (tmp_path / "README.md").write_text("words")
    (tmp_path / "rivals-paper-cpu.png").write_bytes(b"")
    assert read_all(tmp_path) == []
