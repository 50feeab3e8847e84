"""The notebooks run, and each .ipynb is its text with outputs. (The one on PyTorch runs in tests/telemetry.)"""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import pytest
from notebooks.build import HERE, NAMES, cells_of_notebook, cells_of_text, notebook_of

SMALL = 200_000
"""Bytes of a notebook with its outputs."""
OF_A_MACHINE = re.compile(r"(?<![\w.])/(home|root|tmp|work|usr|Users|private|opt|content)/")


def text_of(name: str) -> str:
    return (HERE / f"{name}.py").read_text()


def notebook(name: str) -> dict:
    return json.loads((HERE / f"{name}.ipynb").read_text())


def run(source: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict:
    """The code of a text, in a folder of its own: the names that it leaves."""
    monkeypatch.chdir(folder)
    names: dict = {}
    exec(
        compile("\n\n".join(body for kind, body in cells_of_text(source) if kind == "code"), "notebook", "exec"), names
    )
    plt.close("all")
    return names


def test_every_text_has_its_notebook():
    texts = {path.stem for path in HERE.glob("*.py")} - {"build"}
    assert texts == {path.stem for path in HERE.glob("*.ipynb")} == set(NAMES)


def test_a_text_is_cut_into_its_cells():
    text = "# ---\n# header\n# ---\n\n# %% [markdown]\n# # Title\n#\n# words\n\n# %%\na = 1  # one\n\n# %%\na\n"
    cells = [("markdown", "# Title\n\nwords"), ("code", "a = 1  # one"), ("code", "a")]
    assert cells_of_text(text) == cells == cells_of_notebook(notebook_of(cells))


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_has_the_cells_of_its_text(name):
    """If this fails, run `python notebooks/build.py`."""
    assert cells_of_notebook(notebook(name)) == cells_of_text(text_of(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_was_run_from_top_to_bottom_and_its_outputs_are_small(name):
    code = [cell for cell in notebook(name)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert outputs and "error" not in {output["output_type"] for output in outputs}
    assert any("image/png" in output.get("data", {}) for output in outputs), "a figure"
    assert (HERE / f"{name}.ipynb").stat().st_size < SMALL


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_names_no_folder_of_the_machine_that_ran_it(name):
    shown = [
        json.dumps({kind: each for kind, each in output.get("data", {}).items() if kind != "image/png"})
        + json.dumps(output.get("text", ""))
        for cell in notebook(name)["cells"]
        for output in cell.get("outputs", [])
    ]
    assert not [match[0] for each in shown if (match := OF_A_MACHINE.search(each))]


@pytest.fixture
def install(tmp_path, monkeypatch):
    """The first code of a notebook where Python finds `found` by every name: what pip is asked to install."""

    def call(name: str, found: SimpleNamespace | None) -> list[str]:
        (first, *_) = [body for kind, body in cells_of_text(text_of(name)) if kind == "code"]
        called: list[list[str]] = []
        monkeypatch.setattr("subprocess.run", lambda command, check: called.append(command))
        monkeypatch.setattr("importlib.util.find_spec", lambda name: found)
        monkeypatch.chdir(tmp_path)
        exec(first, {})
        assert all(command[1:5] == ["-m", "pip", "install", "-q"] for command in called)
        return [command[-1].split("[")[0] for command in called]

    return call


NOT_THERE, FOLDER, PACKAGE = None, SimpleNamespace(origin=None), SimpleNamespace(origin="headway/__init__.py")


@pytest.mark.parametrize("name", NAMES)
def test_the_first_code_installs_headway_where_it_is_missing_and_does_nothing_here(name, install, tmp_path):
    """In Colab the checkout is found by the name of the package; pip would look up its bare name in an index."""
    assert install(name, PACKAGE) == []
    with pytest.raises(FileNotFoundError, match="headway/, or its wheel"):
        install(name, NOT_THERE)
    wheel = tmp_path / "headway-0.2.0-py3-none-any.whl"
    wheel.touch()
    assert install(name, NOT_THERE) == [str(wheel)]
    checkout = tmp_path / "headway"
    checkout.mkdir()
    (checkout / "pyproject.toml").touch()
    assert install(name, NOT_THERE) == install(name, FOLDER) == [str(checkout)]


@pytest.mark.parametrize("name", NAMES)
def test_a_library_that_was_replaced_while_loaded_asks_for_a_restart(name, install, tmp_path, monkeypatch):
    (tmp_path / "headway-0.2.0-py3-none-any.whl").touch()
    monkeypatch.setattr("numpy.__version__", "2.0.2")
    with pytest.raises(RuntimeError, match="restart"):
        install(name, NOT_THERE)


@pytest.mark.parametrize("name", ["first_look", "vary_and_compare"])
def test_a_notebook_runs(name, tmp_path, monkeypatch):
    """With few steps: what its numbers say is the business of other tests."""
    short, replaced = re.subn(r'"steps": \d+, "batch": \d+', '"steps": 20, "batch": 10', text_of(name))
    assert replaced == 1
    names = run(short, tmp_path, monkeypatch)
    records = names.get("records", [names["record"]])
    assert all(record.trajectory["kl_rungs"].shape[0] == 2 for record in records)
    assert {path.name for path in tmp_path.iterdir()} == {"runs"} | (
        {"first_look.html"} if name == "first_look" else set()
    )


def test_the_ratios_of_vary_and_compare_answer_its_question():
    """At one of them the claim holds in every seed, at the other in none."""
    shown = [output for cell in notebook("vary_and_compare")["cells"] for output in cell.get("outputs", [])]
    verdicts = re.findall(r"ratio [\d.]+: (\w+), (\d) of (\d) seeds", "".join(shown[-1]["text"]))
    assert verdicts == [("fails", "0", "2"), ("holds", "2", "2")]
