"""Every page of the documentation can be reached, and nothing in the site's contents is missing."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
CONTENTS = set(re.findall(r": ([a-z_/-]+\.md)$", (DOCS / "site" / "mkdocs.yml").read_text(), re.MULTILINE))
GENERATED = {f"reference/{name}.md" for name in ("python", "analysis", "settings", "commands")}


def test_every_page_is_in_the_contents_and_every_entry_is_a_page():
    assert {page.name for page in DOCS.glob("*.md")} | GENERATED == CONTENTS


def test_every_generated_page_is_written_by_the_reference():
    source = (DOCS / "site" / "reference.py").read_text()
    assert {f"reference/{name}" for name in re.findall(r'folder / "(\w+\.md)"', source)} == GENERATED
