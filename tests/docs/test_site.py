"""Every page of the documentation can be reached, and nothing in the site's contents is missing."""

import importlib
import re
from pathlib import Path

from notebooks.build import NAMES

DOCS = Path(__file__).parents[2] / "docs"
CONTENTS = set(re.findall(r"(?:: |- )([a-z_/-]+\.md)$", (DOCS / "site" / "mkdocs.yml").read_text(), re.MULTILINE))
REFERENCE = {f"reference/{name}.md" for name in ("python", "analysis", "settings", "commands")}
NOTEBOOKS = {f"notebooks/{name}.md" for name in NAMES}


def test_every_page_is_in_the_contents_and_every_entry_is_a_page():
    assert {page.name for page in DOCS.glob("*.md")} | REFERENCE | NOTEBOOKS == CONTENTS


def test_the_longest_pages_are_left_out_of_the_search_and_no_private_member_is_in_the_reference(monkeypatch):
    """They have every word, and would come before the page that defines it. (The build checks the search's index.)"""
    monkeypatch.syspath_prepend(str(DOCS / "site"))
    build = importlib.import_module("build")
    assert build.UNSEARCHED == ("log.md", "reproduction.md")
    assert build.unsearched("# Log\n") == "---\nsearch:\n  exclude: true\n---\n\n# Log\n"
    [shown] = re.findall(r"^ +filters: \[\"!(.+)\"\]", (DOCS / "site" / "mkdocs.yml").read_text(), re.MULTILINE)
    assert [name for name in ("__post_init__", "_private", "trajectory") if not re.search(shown, name)] == [
        "trajectory"
    ]


def test_the_minutes_of_the_tutorials_parts_add_up_to_what_it_and_the_first_page_say():
    numbers = {"three": 3, "four": 4, "five": 5, "ten": 10, "twenty": 20}
    tutorial, first = ((DOCS / name).read_text() for name in ("tutorial.md", "index.md"))
    parts = re.findall(r"^## \d\. .*\((\w+) minutes", tutorial, re.MULTILINE)
    assert len(parts) == len(re.findall(r"^## \d", tutorial, re.MULTILINE))
    [told] = re.findall(r"takes about ([\w-]+) minutes", tutorial)
    assert re.findall(r"\[tutorial\]\(tutorial.md\) takes ([\w-]+) minutes", first) == [told]
    assert sum(numbers[part] for part in parts) == numbers[told] == 20


def test_the_findings_are_an_explanation_and_all_results_a_reference():
    contents = (DOCS / "site" / "mkdocs.yml").read_text()
    _, how, explanation, reference = re.split(r"^  - (?:How to|Explanation|Reference):$", contents, flags=re.MULTILINE)
    assert "own_text.md" in how and "found.md" in explanation
    assert "reproduction.md" in reference and "verdicts.md" in reference
    assert "(found.md)" in (DOCS / "index.md").read_text()


def test_every_generated_page_is_written_by_the_reference():
    source = (DOCS / "site" / "reference.py").read_text()
    assert {f"reference/{name}" for name in re.findall(r'folder / "(\w+\.md)"', source)} == REFERENCE


def test_every_notebook_becomes_a_page_with_its_text_and_its_figures(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "site"))
    importlib.import_module("notebooks_as_pages").write(tmp_path)
    assert {f"notebooks/{path.name}" for path in tmp_path.glob("notebooks/*.md")} == NOTEBOOKS
    for page in tmp_path.glob("notebooks/*.md"):
        figures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text())
        assert figures and all((page.parent / figure).read_bytes().startswith(b"\x89PNG") for figure in figures)
        assert "```python\nimport headway\n" in page.read_text()
