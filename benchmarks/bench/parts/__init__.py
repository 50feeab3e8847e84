"""The parts of the benchmark; each fills one record per case, and writes it after every round.

An interruption then loses nothing but the round it falls into.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.bench.cases import Case, case, cases, names
from benchmarks.bench.record import BenchRecord, name_of, read, write


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
    only: tuple[str, ...] = ()
    """Names of cases; all of a part if there are none."""
    processes: int = 1
    """How many cases of a part whose cases have processes of their own are prepared at once."""
    made: dict[str, BenchRecord] = field(default_factory=dict)
    """Name -> the record as it was last written."""

    def cases(self, part: str) -> list[Case]:
        """What that part measures."""
        if not self.only:
            return cases(part, self.scale, self.gpu, self.rounds)
        chosen = [name for name in names(part, self.scale) if name in self.only]
        return [case(name, self.scale, self.gpu, self.rounds) for name in chosen]

    def rivals_of(self, part: str) -> tuple[str, ...]:
        """CUDA graphs are for models that wait for launches; those of these two parts are not written in plain JAX."""
        other = "jax" if part in ("transformers", "forms") else "torch-graphs"
        return tuple(name for name in self.rivals if name != other)

    @property
    def platform(self) -> str:
        return "gpu" if self.gpu else "cpu"

    def found(self, part: str, case: str) -> None:
        """A record that another process wrote."""
        record = read(self.folder / f"{name_of(part, case, self.scale, self.platform)}.json")
        self.made[record.name] = record

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
            platform=self.platform,
            command=f"headway bench --what {part}{self.options}",
            settings=settings,
            machine=self.machine,
            measured=measured,
        )
        write(record, self.folder)
        self.made[record.name] = record
