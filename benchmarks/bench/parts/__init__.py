"""The parts of the benchmark; each fills one record per case, and writes it after every round.

An interruption then loses nothing but the round it falls into.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.bench.cases import Case, cases
from benchmarks.bench.record import BenchRecord, write


@dataclass(frozen=True)
class Bench:
    """What every part needs to know: where to write, at which scale, against whom, and whom to tell."""

    folder: Path
    scale: str
    gpu: bool
    rivals: tuple[str, ...]
    rounds: int | None
    options: str
    """Of the command, to repeat it."""
    machine: Mapping[str, Any]
    say: Callable[[str], None]
    made: dict[str, BenchRecord] = field(default_factory=dict)
    """Name -> the record as it was last written."""

    def cases(self, part: str) -> list[Case]:
        """What that part measures."""
        return cases(part, self.scale, self.gpu, self.rounds)

    def rivals_of(self, part: str) -> tuple[str, ...]:
        """CUDA graphs are for models that wait for launches, the small ones; those are not written in plain JAX."""
        other = "jax" if part == "transformers" else "torch-graphs"
        return tuple(name for name in self.rivals if name != other)

    def keep(self, part: str, case: Case, measured: Mapping[str, Any]) -> None:
        """Write what was measured so far."""
        settings = {**asdict(case.settings), "seeds": case.seeds, "pace": asdict(case.pace)}
        self.write(part, case.name, settings, measured)

    def write(self, part: str, case: str, settings: Mapping[str, Any], measured: Mapping[str, Any]) -> None:
        """The same for what is no training."""
        record = BenchRecord(
            part=part,
            case=case,
            scale=self.scale,
            platform="gpu" if self.gpu else "cpu",
            command=f"headway bench --what {part}{self.options}",
            settings=settings,
            machine=self.machine,
            measured=measured,
        )
        write(record, self.folder)
        self.made[record.name] = record
