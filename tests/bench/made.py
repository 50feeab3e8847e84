"""Made-up records, whose every number is known; nothing here was measured."""

from benchmarks.bench.cases import case
from benchmarks.bench.record import BenchRecord

MACHINE = {
    "device": "cpu: made up",
    "processor": "Abacus 9",
    "cores": 2,
    "memory_bytes": 8 * 2**30,
    "system": "Linux 6 x86_64",
    "python": "3.11.0",
    "versions": {"jax": "0.10.2", "torch": None},
    "load": 0.0,
    "commit": "0123456789abcdef0123456789abcdef01234567",
    "changed": False,
    "created": "2026-01-01T00:00:00Z",
}

ROUNDS = [
    [
        {"rival": "torch", "seconds": 0.4 * noise, "headway": 0.1 * noise},
        {"rival": "jax", "seconds": 0.3, "headway": 0.1 * noise},
    ]
    for noise in (1.0, 1.5, 3.0)
]
"""Whatever slows both down leaves the ratio to PyTorch at 4."""

MEASURED = {
    "rivals": {
        "differences": {}, "compile_seconds": {"headway": 1.0, "torch": 0.0, "jax": 2.0}, "rounds": ROUNDS,
        "others": [None, 0.02, 0.31],
    },
    "transformers": {
        "operations": 3e6, "operations_per_second": 6e7, "differences": {"logits": 5e-7}, "rounds": ROUNDS,
        "compile_seconds": {"headway": 1.0, "torch": 0.0}, "headway": [0.1, 0.15, 0.3], "others": [0.0] * 3,
    },
    "forms": {
        "operations": None, "operations_per_second": None, "differences": {"loss": 1e-7, "gradient": 1e-6},
        "rounds": ROUNDS, "first_seconds": {"headway": 1.0, "torch": 0.0}, "headway": [0.1, 0.15, 0.3],
        "others": [0.0] * 3,
    },
    "scaling": {
        "axes": {
            "batch": {str(batch): [1e-6 * batch**2] * 3 for batch in (500, 1000, 4000)},
            "seeds": {"1": [0.2], "2": [0.2]},
        }
    },
    "start": {
        "alone": {
            "headway": {
                "imported_seconds": 1.0, "begun_seconds": 2.0, "first_seconds": 5.0, "step_seconds": 0.5, "steps": 3,
                "seeds": 1, "imported_bytes": 100 * 2**20, "peak_bytes": 300 * 2**20, "device_bytes": None,
            }
        }
    },
    "evaluation": {"steps": 2000, "evaluations": 100, "step_seconds": [0.1] * 3, "evaluation_seconds": [0.2, 0.4, 0.9]},
    "reduction": {
        "rounds": {str(d): [{"full": 1e-3 * d**2 * k, "reduced": 0.1 * k} for k in (1, 2, 4)] for d in (10, 100)},
        "differences": {"10": 2e-12, "100": 3e-11}, "others": [0.0] * 6,
    },
}  # fmt: skip


def made(part: str, name: str = "minimal", scale: str = "paper", measured: dict | None = None) -> BenchRecord:
    return BenchRecord(
        part=part,
        case=name,
        scale=scale,
        platform="cpu",
        command=f"headway bench --what {part}",
        settings={"seeds": 1, "batch": case("minimal", scale, False).settings.training.batch},
        machine=MACHINE,
        measured=MEASURED[part] if measured is None else measured,
    )


SPREADS = {
    "differences": {"logits": 5e-7},
    "spreads": {
        "headway_seconds": dict.fromkeys(("low", "lower_quartile", "median", "upper_quartile", "high"), 0.002),
        "rivals": {
            "torch-graphs": {
                "seconds": dict.fromkeys(("low", "lower_quartile", "median", "upper_quartile", "high"), 0.006),
                "ratio": {"low": 2.0, "lower_quartile": 2.5, "median": 3.0, "upper_quartile": 3.5, "high": 4.0},
            }
        },
    },
}
"""What an older record of small transformers holds instead of single times."""


EVERY_PART = [made(part) for part in MEASURED]
