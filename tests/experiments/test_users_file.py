"""A task in a user's file gets all that ours get, and reading what it left behind never runs its code."""

import re
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.cli.process import Shell
from tests.report.embedded import embedded_text

from headway.settings.plain import Open
from headway.store import Record, Store
from headway.watch.handler import Handler

TASK = '''
"""Say again what came first."""
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp

from headway import Claim, Evaluation, Experiment, Model, Training
from headway.analysis import minima

Path(__file__).with_name("imported").touch()


@dataclass(frozen=True)
class FirstToken:
    symbols: int = 3
    length: int = 4
    tokens: int = 4  # a name that a setting of ours once had

    rungs = ("uniform", "any of the row", "the first")
    predicted = 1

    @property
    def vocab(self):
        return self.symbols

    def sample(self, key):
        row = jax.random.randint(key, (self.length,), 0, self.symbols)
        return jnp.append(row, row[0])

    def ladder(self, row):
        tokens = jnp.arange(self.vocab)
        uniform = jnp.full(self.vocab, 1 / self.vocab)
        seen = jnp.mean(row[: self.length, None] == tokens, axis=0)
        first = (tokens == row[0]).astype(seen.dtype)
        return jnp.log(jnp.stack([uniform, seen, first]))[:, None]


def early(claim, results):
    (settings, trajectory), *_ = results.values()
    steps = minima(trajectory.times("kl_rungs"), trajectory["kl_rungs"])
    return steps[:, 1], steps[:, 1] <= settings.training.steps


experiment = Experiment.of(
    FirstToken(),
    title="Say again what came first, and nothing of what came later.",
    model=Model(layers=1, heads=1, width=8, mlp=0, norm="none", dropout=0.0),
    training=Training(learning_rate=1e-2, schedule="constant", steps=40, batch=8, data="fresh", test_samples=16),
    evaluation=Evaluation(points=6, snapshots=2),
    seeds=3,
    claims=[Claim("U1", "Rung 1 comes early.", "KL to rung 1 has its minimum.", "step of the minimum", judge=early)],
)
'''
ARGUMENTS = ("run", "mine.py", "--into", "runs")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A folder with the file and nothing else."""
    (tmp_path / "mine.py").write_text(TASK)
    return Shell(tmp_path)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Shell, str]:
    """The file run once, and what that said."""
    shell = Shell(tmp_path_factory.mktemp("trained"))
    (shell.folder / "mine.py").write_text(TASK)
    return shell, said(shell.call(*ARGUMENTS))


def said(ended: "subprocess.CompletedProcess[str]") -> str:
    assert ended.returncode == 0, ended.stderr
    return ended.stdout + ended.stderr


def records(shell: Shell) -> list[Record]:
    return list(Store(shell.folder / "runs").records())


def bits(record: Record) -> dict[str, bytes]:
    parts = (record.trajectory.arrays, record.trajectory.facts, record.weights())
    return {name: np.asarray(values).tobytes() for part in parts for name, values in part.items()}


def test_it_ends_with_a_record_a_verdict_with_its_interval_and_a_page(trained):
    shell, words = trained
    [record] = records(shell)
    assert record.identity.startswith("first-token-") and record.cell.source
    assert isinstance(record.cell.settings, Open) and record.cell.settings.task.tokens == 4
    assert record.trajectory["kl_rungs"].shape[::2] == (3, 3)
    assert re.search(r"U1 +Rung 1 comes early\.\s+quick +holds +3/3 +\d+ \[\d+, \d+\]: step of the minimum", words), (
        words
    )
    page = (shell.folder / "runs" / "mine-quick.html").read_text()
    assert "Say again what came first" in page and "any of the row" in embedded_text(page)


def test_again_nothing_is_trained(trained):
    shell, _ = trained
    before = {path: path.stat().st_mtime_ns for path in shell.folder.glob("runs/*/record.json")}
    words = said(shell.call(*ARGUMENTS, "--no-page"))
    assert "U1" in words and "step 40" not in words
    assert {path: path.stat().st_mtime_ns for path in shell.folder.glob("runs/*/record.json")} == before


def test_stopped_and_started_again_it_ends_with_the_same_bits(shell, trained):
    process = shell.stop_at(4, *ARGUMENTS, "--no-page")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 130 and records(shell) == []
    assert "resuming at step" in said(shell.call(*ARGUMENTS, "--no-page"))
    assert bits(records(shell)[0]) == bits(records(trained[0])[0])


def test_it_is_varied_and_computed_by_other_processes_as_ours_are(shell, trained):
    """The same losses, to rounding, as in one program here."""
    words = said(shell.call(*ARGUMENTS, "--vary", "training.learning_rate", "0.01", "0.02", "--on", "processes:2"))
    assert "learning_rate 0.02" in words and "U1" in words
    found = {record.cell.settings.training.learning_rate: record for record in records(shell)}
    assert found.keys() == {0.01, 0.02}
    wanted = records(trained[0])[0].trajectory["train_loss"]
    np.testing.assert_allclose(found[0.01].trajectory["train_loss"], wanted, rtol=1e-4)
    assert list(shell.folder.glob("runs/*.csv")) and list(shell.folder.glob("runs/*.html"))


def test_listing_reporting_exporting_and_watching_need_no_file_and_run_no_code(trained, tmp_path):
    shell, _ = trained
    [record] = records(shell)
    code = (shell.folder / "mine.py").read_text()
    (shell.folder / "mine.py").unlink()
    (shell.folder / "imported").unlink()
    try:
        assert f"done       {record.identity}  3 seeds; task.length=4, task.symbols=3" in said(
            shell.call("list", "--from", "runs")
        )
        said(shell.call("report", "--from", "runs", "--into", tmp_path))
        assert "any of the row" in embedded_text((tmp_path / "report.html").read_text())
        said(shell.call("export", record.path, tmp_path / "table.csv"))
        assert "kl_rungs" in (tmp_path / "table.csv").read_text()
        assert "first-token" in embedded_text(Handler(shell.folder / "runs").page("/"))
        assert not (shell.folder / "imported").exists()
    finally:
        (shell.folder / "mine.py").write_text(code)


def test_a_change_in_what_is_sampled_is_a_new_run_and_that_is_said(trained):
    shell, _ = trained
    [before] = records(shell)
    (shell.folder / "mine.py").write_text(TASK.replace("row[0])\n\n", "row[1])\n\n", 1))
    words = said(shell.call(*ARGUMENTS, "--no-page"))
    assert f"the code of first-token has changed since {before.identity} was made: this is a new run" in words
    assert len(records(shell)) == 2


def test_a_change_in_a_comment_or_a_claim_is_the_same_run(shell, trained):
    shutil.copytree(trained[0].folder / "runs", shell.folder / "runs")
    there = {record.identity for record in records(shell)}
    changed = (
        TASK.replace("# a name", "# still a name")
        .replace("<= settings", "> settings")
        .replace("comes early", "is late")
    )
    (shell.folder / "mine.py").write_text(changed)
    words = said(shell.call(*ARGUMENTS, "--no-page"))
    assert re.search(r"U1 +Rung 1 is late\.\s+quick +fails +0/3", words) and "done: " not in words, words
    assert {record.identity for record in records(shell)} == there


BROKEN = {
    "no Python": ("def early(", "def early((", r"mine\.py:\d+ is no Python"),
    "an import": (
        "from headway.analysis import minima",
        "import nothing_of_the_kind",
        r"mine\.py:10 cannot be imported",
    ),
    "no distribution": ("1 / self.vocab)", "1.0)", r"FirstToken\.ladder.*add up.*\(mine\.py, line \d+\)"),
    "a wrong shape": (")[:, None]", ")", r"FirstToken\.ladder gives .*shape.*\(mine\.py, line \d+\)"),
    "no function": ("def sample(", "def draw(", r"mine\.py:\d+.*FirstToken has no function sample"),
    "an error": ("row[0])\n\n", "row[0].nothing)\n\n", r"FirstToken\.sample fails: .*\(mine\.py, line \d+"),
    "a token too many": (
        "0, self.symbols)",
        "0, self.symbols + 5)",
        r"FirstToken\.sample gives .*\(mine\.py, line \d+\)",
    ),
}


@pytest.mark.parametrize("mistake", BROKEN)
def test_a_mistake_is_told_in_words_with_file_and_line(shell, mistake):
    right, wrong, words = BROKEN[mistake]
    assert right in TASK
    (shell.folder / "mine.py").write_text(TASK.replace(right, wrong, 1))
    ended = shell.call(*ARGUMENTS, "--no-page")
    assert ended.returncode == 2, ended.stderr
    assert "Traceback" not in ended.stderr
    assert re.search(words, " ".join(ended.stderr.split())), ended.stderr
