"""name.py -> name.ipynb: the cells of the text, run once, with their outputs.

    python notebooks/build.py [NAME ...]     # all notebooks, or some

It needs Headway, `nbclient` and `ipykernel`, and PyTorch for `your_own_model`. The text is what is edited; jupytext
reads both files as one pair. Notebooks run in a temporary folder, and nothing of that machine is kept but the outputs.
"""

import json
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
NAMES = ("first_look", "vary_and_compare", "your_own_model")
MARK = re.compile(r"^# %%( \[markdown\])?\n", re.MULTILINE)
Cell = tuple[str, str]
"""(kind, source); the kind is "markdown" or "code"."""


def cells_of_text(text: str) -> list[Cell]:
    """The cells of a text in jupytext's percent format; what comes before the first is the header."""
    _, *parts = MARK.split(text)
    kinds = ["markdown" if mark else "code" for mark in parts[::2]]
    bodies = [body.strip() for body in parts[1::2]]
    plain = [_uncommented(body) if kind == "markdown" else body for kind, body in zip(kinds, bodies, strict=True)]
    return list(zip(kinds, plain, strict=True))


def _uncommented(body: str) -> str:
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.splitlines())


def cells_of_notebook(notebook: dict) -> list[Cell]:
    return [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]


def notebook_of(cells: list[Cell]) -> dict:
    """An .ipynb of the format 4.5 without outputs."""
    code = {"execution_count": None, "outputs": []}
    return {
        "cells": [
            {"cell_type": kind, "id": f"cell-{place}", "metadata": {}, "source": source}
            | (code if kind == "code" else {})
            for place, (kind, source) in enumerate(cells)
        ],
        "metadata": {
            "jupytext": {"formats": "ipynb,py:percent"},
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def executed(notebook: dict) -> dict:
    import nbformat
    from nbclient import NotebookClient

    nodes = nbformat.from_dict(notebook)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(nodes, timeout=600, kernel_name="python3", resources={"metadata": {"path": folder}})
        client.execute()
    for cell in nodes.cells:
        cell.metadata = {}  # when it ran
    nodes.metadata = notebook["metadata"]
    return nodes


def main() -> None:
    for name in sys.argv[1:] or NAMES:
        notebook = executed(notebook_of(cells_of_text((HERE / f"{name}.py").read_text())))
        (HERE / f"{name}.ipynb").write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
        print(f"{name}.ipynb")


if __name__ == "__main__":
    main()
