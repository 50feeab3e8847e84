"""A run that cannot fit is refused before it starts, with numbers and what to change; what can be split is split."""

import os
import re
import subprocess
import sys
from pathlib import Path

import jax
import pytest
from tests.attacks.shell import SMALL, environment
from tests.training.tiny import TINY, changed

from headway.records import Cell
from headway.settings import SettingsError
from headway.store import Store
from headway.sweep import fitting, here, plan
from headway.sweep.bundle import Bundle
from headway.sweep.engines import Engine
from headway.sweep.engines.layout import Layout
from headway.sweep.engines.slurm import megabytes
from headway.sweep.fitting import REMEDIES, limit_of, require_fitting, too_large
from headway.sweep.here import run_cells
from headway.training.limits import OWN, Limit
from headway.training.memory import PROCESS, SHARE, Footprint, footprint

MIB = 2**20
LARGE = changed(TINY, training={"samples": 100_000})


def test_a_run_that_cannot_fit_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    """Three seeds of 100 000 rows; there is room for two."""
    own = footprint(LARGE, 100_000)
    monkeypatch.setattr(here, "room", lambda: Limit(own.of(2), "a made limit"))
    with pytest.raises(SettingsError) as refused:
        run_cells([Cell(TINY, (0,)), Cell(LARGE, (0, 1, 2))], Store(tmp_path / "runs"))
    needs, has = (f"{size / MIB:,.0f} MiB" for size in (own.of(3), own.of(2)))
    assert f"with 3 seeds needs about {needs}, but a program may take {has} here (a made limit)." in str(refused.value)
    assert "or at most 2 seeds (--seeds 2). Nothing was started." in str(refused.value)
    assert not list(tmp_path.glob("runs/*"))


def test_what_is_done_already_is_not_asked_for(tmp_path, undisturbed):
    store = Store(undisturbed.path.parent)
    require_fitting([undisturbed.cell], store, Limit(1, "nothing"))
    with pytest.raises(SettingsError, match="needs about"):
        require_fitting([Cell(TINY, (7,))], store, Limit(1, "nothing"))


@pytest.mark.parametrize("part", [each for each in REMEDIES if each != "process"])
def test_the_remedy_is_for_what_takes_most(part, monkeypatch):
    nothing = dict.fromkeys(("model", "training", "tests", "drawing", "example", "batch"), 1)
    more = {"activations": {"example": 4500}, "testing": {"example": 450, "tested": 40}}
    own = Footprint(**nothing | more.get(part, {part: 9000}))
    monkeypatch.setattr(fitting, "footprint_of", lambda _: own)
    monkeypatch.setattr(plan, "footprint_of", lambda _: own)
    monkeypatch.setattr("headway.training.memory.PROCESS", dict.fromkeys(PROCESS, 0))
    words, remedy = REMEDIES["testing" if part == "tests" else part]  # two of what a test set holds are worked with
    told = too_large(Bundle((Cell(TINY, (0,)),), 20), Limit(10, "a made limit"))
    assert f"is for {words}. {remedy}." in told


def test_a_bundle_is_split_until_its_pieces_fit_and_none_is_refused():
    bundle = Bundle(tuple(Cell(LARGE, (seed,)) for seed in range(6)), 100_000)
    limit = Limit(footprint(LARGE, 100_000).of(2), "a made limit")
    pieces = plan.pieces_of(bundle, limit)
    assert [piece.members for piece in pieces] == [2, 2, 2]
    assert [too_large(piece, limit) for piece in pieces] == [""] * 3 and too_large(bundle, limit)


def test_a_task_that_cannot_be_traced_is_left_to_its_own_cells(tmp_path, monkeypatch):
    def broken(*_):
        raise TypeError("no shape")

    monkeypatch.setattr(plan, "footprint", broken)
    require_fitting([Cell(TINY, (0,))], Store(tmp_path), Limit(1, "nothing"))


def test_what_other_machines_have_is_known_only_if_it_was_asked_for():
    def engine(**more):
        return Engine("slurm", lambda order, after: None, elsewhere=True, **more)

    assert limit_of(engine(), 3) is None
    assert limit_of(engine(memory=megabytes("8G")), 3) == Limit(int(SHARE * 8 * 2**30), "--engine memory", shared=False)
    assert [megabytes(each) for each in ("100", "2m", "1GB", "half")] == [100 * MIB, 2 * MIB, 2**30, None]


def test_processes_at_once_have_a_part_each(monkeypatch):
    four = Engine("processes", lambda order, after: None, workers=4)
    monkeypatch.setattr("headway.training.memory.limits", lambda: [Limit(8000 * MIB, "machine")])
    monkeypatch.setattr("headway.sweep.engines.layout.limits", lambda: [Limit(8000 * MIB, "machine")])
    assert limit_of(four, 9).free == int(SHARE * 2000 * MIB)
    assert limit_of(four, 2).free == int(SHARE * 4000 * MIB), "no more than there is work for"
    assert Layout(4).environment(0, "device") == {OWN: str(2000 * MIB)}


def test_on_a_gpu_it_is_what_xla_may_take_of_it(monkeypatch):
    class Gpu:
        platform = "gpu"

        def memory_stats(self):
            return {"bytes_limit": 10_000}

    monkeypatch.setattr(jax, "devices", lambda: [Gpu()])
    assert plan.room(4).free == 9000 and "XLA_PYTHON_CLIENT_MEM_FRACTION" in plan.room().source
    assert Footprint(1, 1, 1, 1, 1, 1).parts(1)["process"] == 0


COMMAND = [sys.executable, "-P", "-m", "headway", "run", "stages", *SMALL]


def refused(words: list[str], folder: Path, **more) -> str:
    """It ended by itself, with 2 and a sentence, and has written nothing."""
    ended = subprocess.run(
        words, cwd=folder, env=environment(folder / "home"), capture_output=True, text=True, timeout=300, **more
    )
    assert ended.returncode == 2, (ended.returncode, ended.stdout[-1000:], ended.stderr[-1000:])
    assert "Traceback" not in ended.stderr and not (folder / "runs").exists()
    return ended.stdout + ended.stderr


def test_a_process_with_too_little_address_space_is_refused_and_not_killed(tmp_path):
    """4 GB, most of which JAX takes without using it; the same words come from a plan."""
    told = [
        refused(["sh", "-c", 'ulimit -v 4000000; exec "$@"', "sh", *COMMAND, *large, *more], tmp_path)
        for large in [("--training.samples", "200000000")]
        for more in ((), ("--dry-run",))
    ]
    for each in told:
        flat = " ".join(each.split())
        found = re.search(r"needs about ([\d,]+) MiB, but a program may take ([\d,]+) MiB here \(this process's", flat)
        assert found and "RLIMIT_AS" in flat and "Use fewer training.samples" in flat, each
        needs, has = (int(number.replace(",", "")) for number in found.groups())
        assert has < 4000 < needs


@pytest.fixture
def control_group():
    """A real control group of 600 MiB, where this machine lets us make one."""
    top = Path("/sys/fs/cgroup/memory" if Path("/sys/fs/cgroup/memory").is_dir() else "/sys/fs/cgroup")
    folder = top / f"headway-test-{os.getpid()}"
    limit = "memory.limit_in_bytes" if top.name == "memory" else "memory.max"
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("control groups cannot be made here")
    try:
        try:
            (folder / limit).write_text(str(600 * MIB))
        except OSError:
            pytest.skip("control groups have no limits here")
        yield folder
    finally:
        folder.rmdir()


def test_a_process_in_a_small_control_group_is_refused_and_not_killed(control_group, tmp_path):
    """A transformer is not even compiled in 600 MiB; who tries is killed without a word."""
    enter = ["sh", "-c", 'echo $$ > "$0"/cgroup.procs && exec "$@"', str(control_group), *COMMAND]
    told = refused(enter, tmp_path)
    assert f"in {control_group})" in told and "MiB" in told
    assert PROCESS["kernels"] > 600 * MIB
