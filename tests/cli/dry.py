"""Commands up to the point at which they would train or write."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from headway.cli import main
from headway.records import Cell


class Parsed(Exception):  # noqa: N818 - nothing is wrong
    """Where a dry run ends, with the cells that the command would compute."""

    def __init__(self, cells: list[Cell]) -> None:
        self.cells = cells


def dry_commands(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Cell]]:
    """`dry(*arguments)` fails where the command would end with an error, and returns the cells of a run.

    Commands run in `folder`, where there are folders of records in which everything is found.
    """
    for name in ("runs", "results", "tests/data/blocks"):
        (folder / name).mkdir(parents=True)
    monkeypatch.chdir(folder)

    def stop(cells, stores, options, *looks):
        raise Parsed(list(cells))

    def nothing(*arguments, **options): ...

    monkeypatch.setattr("headway.cli.computing.compute", stop)
    monkeypatch.setattr("headway.cli.ending.show", nothing)
    monkeypatch.setattr("headway.cli.ending.write_markdown", nothing)
    monkeypatch.setattr("headway.export.export", lambda record, path, **options: path)
    monkeypatch.setattr("headway.store.load", lambda path: SimpleNamespace(model=nothing))
    monkeypatch.setattr("headway.export.models.export_model", lambda model, path, form, **options: [path])
    monkeypatch.setattr("headway.export.animation.export_animation", lambda record, path, *options: path)
    monkeypatch.setattr("headway.experiments.outcome.answer", lambda cell, stores, **options: cell)
    monkeypatch.setattr("headway.experiments.outcome.readable_runs", lambda records: {})
    monkeypatch.setattr("headway.experiments.outcome.Outcome.results", {})  # every claim is "not run"
    monkeypatch.setattr("benchmarks.bench.command._measure", lambda options, console: [])
    monkeypatch.setattr("benchmarks.bench.command._write", nothing)
    monkeypatch.setattr("headway.export.animation.export_animation", lambda record, path, *options: path)
    monkeypatch.setattr("headway.cli.watch_command._serve", nothing)
    monkeypatch.setattr("headway.cli.measure_command._measure", nothing)
    monkeypatch.setattr("headway.cli.claims_command._require_records", nothing)
    monkeypatch.setattr("headway.cli.ladders_command._show", nothing)
    monkeypatch.setattr("headway.cli.claims_command._print_published", nothing)
    for name in ("_answer", "_score", "_show", "_show_held_out"):
        monkeypatch.setattr(f"headway.cli.predict_command.{name}", nothing)
    monkeypatch.setattr("benchmarks.bench.record.read_all", lambda folder: [None])
    monkeypatch.setattr("benchmarks.bench.command._show", nothing)

    def dry(*arguments: str) -> list[Cell]:
        try:
            main(arguments)
        except Parsed as parsed:
            return parsed.cells
        except SystemExit as end:
            assert not end.code, f"headway {' '.join(arguments)} ends with {end.code}"
        return []

    return dry
