"""What the README and the documents show exists and works."""

import ast
import re
import shlex
import shutil
from pathlib import Path

import pytest
from PIL import Image
from tests.cli.dry import dry_commands

import headway
from headway.claims.plateau_laws import LOCATION

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "headway"
FENCED = re.DOTALL | re.MULTILINE
README = (ROOT / "README.md").read_text()
FIRST = [ROOT / name for name in ("README.md", "CHANGELOG.md", "SECURITY.md")]
DOCUMENTS = [*FIRST, *sorted(ROOT.glob("docs/*.md")), *ROOT.glob("results/*.md")]
pytestmark = pytest.mark.usefixtures("unchecked")


def code_blocks(text: str, language: str) -> list[str]:
    """The blocks between fences of three backquotes, of one language."""
    return [block for kind, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, FENCED) if kind == language]


def commands(text: str) -> list[str]:
    """Every call of `./run` or `headway`, in a block of shell commands or within a sentence."""
    lines = [line for block in code_blocks(text, "sh") for line in block.splitlines()]
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=FENCED))
    # `headway` alone in a sentence is its name.
    return [line for line in [*lines, *inline] if re.match(r"\./run\b|headway [a-z-]", line)]


def tree() -> dict[str, str]:
    """Path of every entry of the README's tree -> what is said about it."""
    (block,) = (block for block in code_blocks(README, "") if "src/headway/" in block)
    found, parents = {}, [""]
    for line in block.splitlines():
        parts = re.fullmatch(r"([│ ]*)[├└]── (\S+)\s*(.*)", line)
        assert parts is not None, f"{line!r} is no line of a tree"
        indent, name, words = parts.groups()
        depth = len(indent) // 4
        path = parents[depth] + name
        parents[depth + 1 :] = [path]
        found[path] = words
    return found


def test_every_entry_of_the_tree_exists_and_says_what_it_is():
    for name, words in tree().items():
        path = ROOT / name
        assert path.is_dir() if name.endswith("/") else path.is_file(), f"{name} is in the tree and nowhere else"
        assert words or name == "src/headway/"


def test_every_module_and_folder_of_the_package_is_in_the_tree():
    there = {path.name + ("/" if path.is_dir() else "") for path in SOURCE.iterdir()}
    plumbing = {"__init__.py", "__main__.py", "__pycache__/", "py.typed"}
    shown = {name.removeprefix("src/headway/") for name in tree() if name.startswith("src/headway/")} - {""}
    assert there - plumbing == shown


def test_the_readme_opens_with_what_it_is_a_picture_and_two_commands():
    opening = README[: README.index("## Five findings")]
    assert re.search(r"^!\[.+\]\(docs/figures/.+\.(gif|png)\)$", opening, re.MULTILINE)
    (block,) = code_blocks(opening, "sh")
    assert [shlex.split(line, comments=True) for line in block.splitlines()] == [["./run"], ["./run", "test"]]


@pytest.fixture(scope="module")
def given() -> set[str]:
    """Commands that were given already: several documents show the same."""
    return set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_that_is_shown_can_be_given(document, given, tmp_path, monkeypatch, capsys):
    shown = commands(document.read_text())
    assert shown or document.name != "README.md"
    dry = dry_commands(tmp_path, monkeypatch)
    # A user's files, as the documents name them.
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name in ("my_task.py", "first_again.py"):
        shutil.copy(ROOT / "examples" / "in_context_chain.py", tmp_path / name)
    (tmp_path / "my_text.txt").write_text("The quick brown fox jumps over the lazy dog.\n" * 1000)
    for line in shown:
        words = shlex.split(line, comments=True)[1:]
        scripts = words[:1] in (["test"], ["reliability"], ["telemetry"], ["docs"])  # which it understands itself
        if not scripts and shlex.join(words) not in given:
            dry(*words)
            given.add(shlex.join(words))
        for word in words:
            assert not word.startswith("results/") or (ROOT / word).is_dir(), f"{line} names a record that is not there"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_within_the_project_leads_somewhere(document):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text()):
        if target.startswith("reference/"):  # which the site generates
            assert target in (ROOT / "docs" / "site" / "mkdocs.yml").read_text()
        elif "://" not in target:
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def anchors(document: Path) -> set[str]:
    """The ends of links to its headings, as GitHub and the site make them."""
    prose = re.sub(r"^```.*?^```$", "", document.read_text(), flags=FENCED)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in re.findall(r"^#+ (.+)$", prose, re.MULTILINE)]
    return {heading.strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_to_a_heading_names_one_that_is_there(document):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", document.read_text()):
        if "://" not in target and not target.startswith("reference/"):
            there = document if not target else document.parent / target
            assert anchor in anchors(there), f"{document.name} links to {target}#{anchor}"


def test_the_picture_of_the_readme_moves_and_is_small():
    [name] = re.findall(r"^!\[.+\]\((docs/figures/.+\.gif)\)$", README, re.MULTILINE)
    with Image.open(ROOT / name) as picture:
        assert getattr(picture, "n_frames", 1) >= 10
    assert (ROOT / name).stat().st_size < 400_000


def test_the_law_in_the_readme_is_that_of_the_document_and_of_the_paper():
    """docs/reproduction.md is held against the records in tests/test_results.py."""
    form = r"(\d\.\d+ d\^\d\.\d+ \(T/B\)\^\d\.\d+)"
    [found, published] = re.findall(form, README)
    section = (ROOT / "docs" / "reproduction.md").read_text().split("\n## transformer-appendix\n")[1].split("\n## ")[0]
    fitted = set(re.findall(rf"The plateau is {form} \(medians over seeds\)", section))
    assert found in fitted
    assert published == f"{LOCATION.constant:.2f} d^{LOCATION.powers['d']:.2f} (T/B)^{LOCATION.powers['T']:.2f}"
    assert LOCATION.powers["B"] == -LOCATION.powers["T"]


def ratios(table: str, rival: str) -> list[float]:
    """How many times as long a rival's step takes, in a table of docs/speed.md."""
    return [float(ratio) for ratio in re.findall(rf"\| {re.escape(rival)} \|[^|]*\|[^|]*\| ([\d.]+)x \|", table)]


def test_the_speeds_in_the_readme_are_those_of_the_page_about_speed():
    """That page is held against the measurements in tests/bench."""
    on_cpu, on_gpu = (ROOT / "docs" / "speed.md").read_text().split("\n## On a GPU\n")
    models, small = on_cpu.split("\n### Small transformers, ")
    on_gpu, _, forms = on_gpu.split("\n### Small transformers, ")[1].partition("\n### A part removed, ")
    slow, fast = min(ratios(models, "PyTorch")), max(ratios(models, "PyTorch"))
    assert f"{slow:.0f} to {fast:.0f} times as fast as in PyTorch" in README
    compiled, graphs = ratios(on_gpu, "torch.compile"), ratios(on_gpu, "torch.compile, CUDA graphs")
    assert f"1/{min(compiled):.1f} to 1/{max(compiled):.0f} of torch.compile's time" in README
    assert f"text: 1/{min(graphs):.1f} to 1/{max(graphs):.0f} with CUDA graphs" in README
    others = ratios(forms.partition("\n### ")[0], "torch.compile")
    assert len(others) == 20 and f"other models of paper A 1/{min(others):g} to 1/{max(others):.0f};" in README
    compiled = ratios(small.partition("\n### ")[0], "torch.compile")
    assert f"on two CPU cores, small ones 1/{min(compiled):.1f} to 1/{max(compiled):.1f}." in README


def test_the_notebook_uses_only_public_names():
    """That it runs is shown in tests/experiments."""
    (block,) = code_blocks(README, "python")
    names = {
        node.attr
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "headway"
    }
    assert {"run", "stages", "page", "load"} <= names <= set(headway.__all__)
    assert len(block.splitlines()) <= 11


def test_the_readme_can_be_read_in_three_minutes():
    assert len(README.split()) < 900


def test_the_package_introduces_itself_with_the_same_lines():
    (block,) = code_blocks(README, "python")
    code = [line.split("#")[0].strip() for line in block.splitlines()]
    assert headway.__doc__ is not None
    introduction = [line.split("#")[0].strip() for line in headway.__doc__.splitlines()[2:] if "docs/" not in line]
    assert set(filter(None, introduction)) <= set(code)
