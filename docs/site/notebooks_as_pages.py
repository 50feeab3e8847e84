"""notebooks/*.ipynb -> notebooks/*.md: a page for each notebook, with the outputs that lie in it."""

import base64
import json
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "notebooks"


def write(pages: Path) -> None:
    """One page a notebook, its figures beside it."""
    folder = pages / "notebooks"
    folder.mkdir()
    for path in sorted(SOURCE.glob("*.ipynb")):
        (folder / f"{path.stem}.md").write_text(page_of(json.loads(path.read_text()), path.stem, folder))


def page_of(notebook: dict, name: str, folder: Path) -> str:
    parts = []
    for place, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data:
                picture = f"{name}-{place}.png"
                (folder / picture).write_bytes(base64.b64decode("".join(data["image/png"])))
                parts.append(f"![output of this cell]({picture})")
            else:
                shown = "".join(output.get("text", data.get("text/plain", "")))
                parts.append(f"```text\n{shown.rstrip()}\n```")
    title, *others = parts
    where = f"*This page is `notebooks/{name}.ipynb`; `notebooks/{name}.py` is its text, to be read with jupytext.*"
    heading, _, rest = title.partition("\n")
    return "\n\n".join([heading, where, rest.strip(), *others]) + "\n"
