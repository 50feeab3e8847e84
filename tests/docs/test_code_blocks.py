"""The code that the documentation shows does what the page says: every Python block of every page is run, in order."""

from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

DOCS = Path(__file__).parents[2] / "docs"
PARSED = Sybil(parsers=[PythonCodeBlockParser()])
ELSEWHERE = "extend.md"
"""Its sections are programs of their own: tests/experiments/test_examples.py."""
PAGES = sorted(page.name for page in DOCS.glob("*.md") if "```python" in page.read_text() and page.name != ELSEWHERE)
NEEDS = {"telemetry.md": "torch"}
"""Pages on extras, which need not be there."""


@pytest.mark.parametrize("name", PAGES)
def test_the_code_of_a_page_runs(name, tmp_path, monkeypatch):
    """One namespace a page; `folder` is where its runs go."""
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    (tmp_path / "results").symlink_to(DOCS.parent / "results")
    monkeypatch.chdir(tmp_path)
    document = PARSED.parse(DOCS / name)
    document.namespace["folder"] = str(tmp_path / "runs")
    for example in document.examples():
        example.evaluate()
