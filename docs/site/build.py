"""The documentation site, made of docs/*.md and of what the code says of itself.

    ./run docs                      into build/docs
    ./run docs --into FOLDER
    ./run docs --serve [--port N]   and serve it on loopback

Pages link to files of the repository (`../src/...`). Each such file becomes a page, so that no link leads out.
"""

import argparse
import functools
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import notebooks_as_pages

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / ".docs"
"""The site's own environment, and its pages before they are built."""
LOCK = ROOT / "locks" / "docs.lock"
LINK = re.compile(r"\]\((\.\./[^)#\s]+)(#[^)\s]*)?\)")
OUTSIDE = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=["'](?:https?:)?//[^"']+["'][^>]*>""")
"""What a browser would fetch by itself."""
SHIM_TAG = re.compile(r'<script\b[^>]*src="https://unpkg\.com/iframe-worker/shim"[^>]*></script>')
PICTURES = (".png", ".svg")
UNSEARCHED = ("log.md", "reproduction.md")
"""Pages that the search leaves out: they have every word, and would come before the page that defines it."""
LANGUAGES = {".py": "python", ".toml": "toml", ".json": "json", ".sh": "sh", "": "sh"}


def main() -> None:
    parser = argparse.ArgumentParser(prog="./run docs", description="Build the documentation site.")
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "docs", help="the folder for the site")
    parser.add_argument("--serve", action="store_true", help="serve it on 127.0.0.1 afterwards")
    parser.add_argument("--port", type=int, default=8001)
    chosen = parser.parse_args()
    if chosen.into.exists() and any(chosen.into.iterdir()) and not (chosen.into / "sitemap.xml").exists():
        parser.error(f"{chosen.into} holds something else than a site. Name a new or an empty folder.")
    build(chosen.into)
    print(f"docs: {chosen.into / 'index.html'}")
    if chosen.serve:
        serve(chosen.into, chosen.port)


def build(into: Path) -> None:
    """Stage, build, check; the folder gets a whole site or keeps what it had."""
    environment()
    stage(PLACE / "docs")
    shutil.copy(ROOT / "docs" / "site" / "mkdocs.yml", PLACE / "mkdocs.yml")
    program = PLACE / "venv" / "bin" / "zensical"
    subprocess.run([program, "build", "--clean", "--strict"], cwd=PLACE, check=True)
    keep_inside(PLACE / "site")
    require_unsearched(PLACE / "site")
    if into.exists():
        shutil.rmtree(into)
    shutil.copytree(PLACE / "site", into)


def environment() -> None:
    """zensical and mkdocstrings by their hashes, apart from what Headway itself needs; once for each lock."""
    stamp, digest = PLACE / "stamp", hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    print("docs: setting up .docs/venv (once)", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", "--clear", PLACE / "venv"], check=True)
    pip = [PLACE / "venv" / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "--require-hashes", "-r", LOCK], check=True)
    stamp.write_text(digest)


def stage(pages: Path) -> None:
    """All pages in one folder: those of docs/, the reference, the notebooks, and the files that they link to."""
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(ROOT / "docs", pages, ignore=shutil.ignore_patterns("site", "report.html", "*.pdf", "*.svg"))
    shutil.copy(ROOT / "docs" / "site" / "iframe-worker.js", pages / "iframe-worker.js")
    reference = [sys.executable, "-P", str(ROOT / "docs" / "site" / "reference.py"), str(pages / "reference")]
    subprocess.run(reference, check=True, env=os.environ | {"PYTHONPATH": str(ROOT / "src")})
    notebooks_as_pages.write(pages)
    for page in sorted(pages.glob("*.md")):
        text = LINK.sub(functools.partial(_inward, pages, page.name), page.read_text())
        page.write_text(unsearched(text) if page.name in UNSEARCHED else text)


def unsearched(text: str) -> str:
    """A page with the front matter that keeps it out of the search."""
    return f"---\nsearch:\n  exclude: true\n---\n\n{text}"


def _inward(pages: Path, name: str, link: re.Match) -> str:
    """The same link, to a page made of the file that it leads to."""
    path, anchor = Path(link[1]), link[2] or ""
    target = (ROOT / "docs" / path).resolve()
    if not target.exists() or ROOT not in target.parents:
        sys.exit(f"docs: {name} links to {path}, which is not there.")
    inside = target.relative_to(ROOT)
    (pages / "files" / inside).parent.mkdir(parents=True, exist_ok=True)
    if target.suffix in PICTURES:
        shutil.copy(target, pages / "files" / inside)
        return f"](files/{inside})"
    if target.is_dir():
        names = sorted(each.name for each in target.iterdir() if not each.name.startswith((".", "__")))
        shown = "\n".join(f"- `{name}`" for name in names)
    elif target.suffix == ".md":
        # Its own links lead to where it lies, which is not here: their words stay.
        shown = re.sub(r"!?\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", target.read_text())
    else:
        shown = f"````{LANGUAGES.get(target.suffix, 'text')}\n{target.read_text()}\n````"
    page = pages / "files" / f"{inside}.md"
    page.write_text(shown if target.suffix == ".md" else f"# {inside}\n\n{shown}\n")
    return f"](files/{inside}.md{anchor if target.suffix == '.md' else ''})"


def keep_inside(site: Path) -> None:
    """The search's helper comes from the site itself; anything else from outside is an error."""
    for page in site.rglob("*.html"):
        depth = len(page.relative_to(site).parts) - 1
        text = SHIM_TAG.sub(f'<script src="{"../" * depth}iframe-worker.js"></script>', page.read_text())
        fetched = [tag for tag in OUTSIDE.findall(text) if 'rel="canonical"' not in tag]
        if fetched:
            sys.exit(f"docs: {page.name} would fetch from outside: {fetched[0]}")
        page.write_text(text)


def require_unsearched(site: Path) -> None:
    """The search's index has none of the pages that it should leave out."""
    index = json.loads((site / "search.json").read_text())
    found = {item["location"].partition("#")[0] for item in index["items"]}
    left = found & {str(Path(page).with_suffix(".html")) for page in UNSEARCHED}
    if left or not found:
        sys.exit(f"docs: the search's index should leave out {', '.join(UNSEARCHED)}, but has {left or 'no page'}.")


def serve(folder: Path, port: int) -> None:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"docs: http://127.0.0.1:{port}/ (Ctrl-C ends it)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
