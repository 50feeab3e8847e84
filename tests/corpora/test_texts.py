"""A text is what its name says or it is refused; its parts share nothing; fetching runs nothing of what is fetched."""

import gzip
import hashlib
import io
import tarfile
from itertools import chain

import pytest

from headway.corpora import fetch as fetching
from headway.corpora import texts
from headway.corpora.fetch import Archive, fetch, unpacked
from headway.corpora.texts import File, checked, digest_of, parts_of, split, stretches
from headway.settings import SettingsError


def test_parts_are_whole_documents_and_share_none():
    documents = [f"speech {number}".encode() for number in range(25)]
    parts = split(documents)
    assert parts.tuning == [b"speech 4", b"speech 14", b"speech 24"] and parts.held_out == [b"speech 9", b"speech 19"]
    assert sorted(chain(*parts)) == sorted(documents)


@pytest.mark.parametrize("text", [b"a line\n" * 400, b"no line ends here " * 90, b"", b"short\n"])
def test_stretches_are_the_text_again_and_end_with_a_line_where_there_is_one(text):
    pieces = stretches(text, 10)
    assert b"".join(pieces) == text and len(pieces) == 10
    if text.count(b"\n") > 20:
        assert all(piece.endswith(b"\n") for piece in pieces)
        assert max(map(len, pieces)) < len(text) / 5


def test_another_text_under_the_same_name_is_refused():
    documents = [b"one ", b"two"]
    seal = hashlib.sha256(b"one two").hexdigest()
    assert checked("numbers", documents, 7, seal) == documents
    for length, sha256 in ((8, seal), (7, "0" * 64)):
        with pytest.raises(SettingsError, match="the text numbers has 7 bytes and the SHA-256"):
            checked("numbers", documents, length, sha256)


def test_a_file_that_changed_since_is_refused_and_one_that_is_not_there(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("as it was\n" * 100)
    digest = digest_of(str(file))
    assert sum(map(len, chain(*parts_of(str(file), digest)))) == 1000
    file.write_text("as it is\n")
    with pytest.raises(SettingsError, match="it was changed since"):
        parts_of(str(file), digest)
    with pytest.raises(SettingsError, match=r"neither a text with a name \(speeches, enwik8\) nor a file"):
        digest_of(str(tmp_path / "none.txt"))


def test_a_text_that_is_missing_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv(texts.FOLDER, str(tmp_path))
    with pytest.raises(SettingsError, match=r"python -m headway\.corpora enwik8"):
        parts_of("enwik8", "")
    monkeypatch.setitem(texts.TEXTS, "lacking", texts.Package("no-such-distribution", "", 1, "", 1))
    with pytest.raises(SettingsError, match="pip install"):
        parts_of("lacking", "")


TEXT = b"what was wanted\n" * 20
SET_UP = b"import pathlib; pathlib.Path(__file__).with_name('run').touch(); raise SystemExit('set-up was run')"


def packed(inner: bytes) -> bytes:
    """A source archive with set-up code and a compressed text."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in (("p-1/setup.py", SET_UP), ("p-1/data/t.gz", gzip.compress(inner))):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture
def index(tmp_path, monkeypatch):
    """An index on disk with one archive, and a text of that name."""
    archive = packed(TEXT)
    page = tmp_path / "simple" / "p"
    page.mkdir(parents=True)
    (page / "p-1.tar.gz").write_bytes(archive)
    (page / "index.html").write_text('<a href="p-1.tar.gz#sha256=0">p-1.tar.gz</a><a href="q">p-2.tar.gz</a>')
    seal = hashlib.sha256(archive).hexdigest()
    monkeypatch.setitem(fetching.ARCHIVES, "t", Archive("p", "p-1.tar.gz", seal, "/data/t.gz"))
    monkeypatch.setitem(texts.TEXTS, "t", File("t", len(TEXT), hashlib.sha256(TEXT).hexdigest()))
    read = fetching._read  # a folder's address is that of its page, as a server has it
    monkeypatch.setattr(fetching, "_read", lambda address: read(address + "index.html" * address.endswith("/")))
    return (tmp_path / "simple").as_uri()


def test_a_text_is_read_out_of_an_archive_of_which_nothing_is_run(index, tmp_path):
    path = fetch("t", tmp_path / "texts", [(tmp_path / "no-index").as_uri(), index])
    assert path.read_bytes() == TEXT
    assert {each.name for each in (tmp_path / "texts").iterdir()} == {"t"}
    assert not list(tmp_path.rglob("run"))
    assert fetch("t", tmp_path / "texts", ["nowhere"]) == path, "what is there is not fetched again"


def test_an_archive_or_a_text_with_another_hash_is_refused_and_nothing_is_written(index, tmp_path, monkeypatch):
    with pytest.raises(SettingsError, match=r"p-1\.tar\.gz has the SHA-256"):
        unpacked(packed(b"else"), fetching.ARCHIVES["t"])
    monkeypatch.setitem(texts.TEXTS, "t", File("t", len(TEXT), "0" * 64))
    with pytest.raises(SettingsError, match="the text t has 320 bytes"):
        fetch("t", tmp_path / "texts", [index])
    assert not (tmp_path / "texts").exists()
    with pytest.raises(SettingsError, match="could not be fetched"):
        fetch("t", tmp_path / "texts", [(tmp_path / "no-index").as_uri()])
    with pytest.raises(SettingsError, match="what can be fetched is enwik8"):
        fetch("another", tmp_path)


def test_an_index_is_known_with_pip_and_without(monkeypatch, tmp_path):
    """An environment that uv made has no pip of its own: the interpreter on the path is asked."""
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    told = "global.index-url='https://a.example/simple'\nglobal.extra-index-url='https://b.example https://c.example'\n"
    without, having = (tmp_path / name for name in ("without", "having"))
    without.write_text("#!/bin/sh\nexit 1\n")
    having.write_text(f'#!/bin/sh\ncat <<"END"\n{told}END\n')
    for each in (without, having):
        each.chmod(0o700)
    monkeypatch.setattr(fetching.sys, "executable", str(without))
    monkeypatch.setattr(fetching.shutil, "which", lambda _name: str(having))
    assert fetching.indices_of_pip() == ["https://a.example/simple", "https://b.example", "https://c.example"]
    monkeypatch.setattr(fetching.shutil, "which", lambda _name: None)
    assert fetching.indices_of_pip() == []
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    assert fetching.indices_of_pip() == ["https://index.example/simple"]
