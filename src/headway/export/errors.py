"""What cannot be written, in words."""

from pathlib import Path


class ExportError(ValueError):
    """Something that cannot be written: what was got, what was wanted, what to do."""


def require_place(path: Path, overwrite: bool) -> None:
    """Refuse a file that is there already, unless it may go, and a folder that is not."""
    if path.exists() and not overwrite:
        raise ExportError(f"{path} exists. Choose another name, or overwrite it (--overwrite, or overwrite=True).")
    if not path.parent.is_dir():
        raise ExportError(f"{path.parent} is not a folder. Make it first, or choose another place.")
