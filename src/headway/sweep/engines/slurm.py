"""`--on slurm`: an array of jobs through submitit, one for each bundle.

submitit starts a job's process, which starts the worker. Before a time limit or a preemption Slurm sends a signal;
submitit calls `checkpoint`, the worker saves and leaves, and the job goes back to the queue, where it goes on from what
was saved. A job whose node dies is put back by Slurm itself.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from headway.settings import SettingsError
from headway.settings.extras import to_install
from headway.sweep.engines import Engine, Order, Started, Unheard
from headway.sweep.engines.launch import ask_to_stop, attend, command, spawn
from headway.sweep.engines.options import Option, read_options

FOLDER = "slurm"


def minutes(text: str) -> int:
    """Slurm's own ways to say a time: 90, 1:30:00, 2-0, 1-12:30."""
    found = re.fullmatch(r"(?:(?P<days>\d+)-)?(?P<rest>\d+(?::\d+){0,2})", text)
    if found is None:
        raise ValueError("write minutes, or hours:minutes:seconds, or days-hours")
    parts = [int(part) for part in found["rest"].split(":")]
    if found["days"] is not None:
        hours, minute, second = (*parts, 0, 0)[:3]
        total = (int(found["days"]) * 24 + hours) * 60 + minute + second / 60
    elif len(parts) == 3:
        total = parts[0] * 60 + parts[1] + parts[2] / 60
    else:
        total = parts[0] + (parts[1] / 60 if len(parts) == 2 else 0)
    if total < 1:
        raise ValueError("at least one minute")
    return -int(-total // 1)


def megabytes(text: str) -> int | None:
    """Bytes of Slurm's own way to name memory: 4000 (megabytes), 8G; None for what only Slurm understands."""
    found = re.fullmatch(r"(\d{1,15})([KMGT]?)B?", text, re.ASCII | re.IGNORECASE)
    return None if found is None else int(found[1]) << {"K": 10, "": 20, "M": 20, "G": 30, "T": 40}[found[2].upper()]


OPTIONS = {
    "partition": Option(str, "the name of a partition"),
    "account": Option(str, "the account to charge"),
    "qos": Option(str, "a quality of service"),
    "time": Option(minutes, "the limit of a job, such as 90 (minutes), 4:00:00 or 1-0; it goes on in the next"),
    "memory": Option(str, "memory of a job, such as 8G"),
    "cpus": Option(int, "cores of a job", least=1),
    "gpus": Option(int, "GPUs of a job", least=0),
    "constraint": Option(str, "features that a node must have"),
    "at_once": Option(int, "how many jobs run at once", least=1),
    "jobs": Option(int, "into how many jobs cells of one shape are cut", least=1),
    "grace": Option(int, "seconds before the time limit at which a worker starts to save", least=1),
    "requeues": Option(int, "how often a job goes on after its time limit", least=0),
    "setup": Option(str, "a shell command before the work, such as `module load cuda`"),
    "retries": Option(int, "how often lost cells are submitted again", least=0),
}
RENAMED = {"memory": "mem", "cpus": "cpus_per_task", "gpus": "gpus_per_node", "at_once": "array_parallelism"}
OURS = ("retries", "requeues", "jobs", "setup", "grace", "sbatch")
DEFAULTS = {"time": 60, "cpus": 1}
PAUSE = 10.0
"""Seconds between two questions to Slurm."""


def slurm(options: Mapping[str, Any]) -> Engine:
    """An engine of Slurm jobs."""
    chosen = read_options("slurm", options, OPTIONS, prefixes=("sbatch",))
    if shutil.which("sbatch") is None:
        raise SettingsError("--on slurm needs Slurm's commands, and there is no sbatch here. Run it on a login node.")
    executor(Path(), chosen, dry=True)
    return Engine(
        "slurm",
        lambda order, after: Jobs(order, chosen, after),
        chosen.get("jobs"),
        chosen.get("retries", 2),
        outlives=True,
        elsewhere=True,
        memory=megabytes(chosen["memory"]) if "memory" in chosen else None,
    )


def parameters(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What submitit calls the options."""
    plain = {RENAMED.get(name, name): value for name, value in {**DEFAULTS, **chosen}.items() if name not in OURS}
    return {
        "job_name": "headway",
        "signal_delay_s": chosen.get("grace", 90),
        **plain,
        **({"setup": [chosen["setup"]]} if "setup" in chosen else {}),
        # A job whose node dies goes back to the queue, and its log goes on.
        "additional_parameters": {"requeue": True, **chosen.get("sbatch", {})},
    }


def executor(folder: Path, chosen: Mapping[str, Any], *, dry: bool = False) -> Any:
    """submitit's executor; `dry` only looks whether it is there."""
    try:
        import submitit
    except ModuleNotFoundError:
        raise SettingsError(f"--on slurm needs submitit, which is not installed. {to_install('slurm')}") from None
    if dry:
        return None
    made = submitit.SlurmExecutor(folder, max_num_timeout=chosen.get("requeues", 100))
    made.update_parameters(**parameters(chosen))
    return made


class Task:
    """What a job does; submitit calls `checkpoint` when the job is about to be stopped."""

    def __init__(self, root: Path, order: Path, code: tuple[str, ...] = ()) -> None:
        self.root, self.order, self.code = root, order, code
        self._process: subprocess.Popen | None = None

    def __call__(self, number: int) -> int:
        self._process = spawn(command(self.root, self.order, self.code, only=number))
        code = attend(self._process)
        if code not in (0, 1):  # A cell that failed has a note; anything else is for Slurm's log.
            raise RuntimeError(f"the worker exited with code {code}")
        return code

    def checkpoint(self, number: int) -> Any:
        """Let the worker save, and ask for the same job again."""
        import submitit

        if self._process is not None:
            ask_to_stop(self._process)
            self._process.wait()
        return submitit.helpers.DelayedSubmission(Task(self.root, self.order, self.code), number)


class Jobs(Unheard):
    """An array of jobs."""

    def __init__(self, order: Order, chosen: Mapping[str, Any], after: Started | None = None) -> None:
        root, path = order.root.resolve(), order.path.resolve()
        self._folder = path.parent / FOLDER
        made = executor(self._folder, chosen)
        if isinstance(after, Jobs):
            made.update_parameters(dependency=f"afterany:{after.name}")
        try:
            self._jobs: Sequence[Any] = made.map_array(Task(root, path, order.code), range(order.bundles))
        except Exception as error:
            raise SettingsError(f"Slurm refused the jobs: {' '.join(str(error).split())[-500:]}") from error
        self._asked, self._listed = 0.0, True

    @property
    def name(self) -> str:
        return str(self._jobs[0].job_id).split("_")[0]

    def going(self) -> bool:
        """Whether Slurm still lists any: it needs no accounting for that. While it does not answer, they are."""
        if time.monotonic() - self._asked > PAUSE:
            self._asked = time.monotonic()
            self._listed = listed(self.name)
        return self._listed

    def stop(self) -> None:
        """Jobs are left alone: they outlive us."""

    def words(self) -> str:
        return f"Slurm job {self.name}: look with `squeue --me`, cancel with `scancel {self.name}`, logs {self._folder}"

    def trouble(self) -> str:
        return ""


def listed(job: str) -> bool:
    """Whether the queue holds a part of the array; true if nobody answers."""
    try:
        told = subprocess.run(
            ["squeue", "--noheader", "--format=%i", f"--jobs={job}"], capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return True
    if told.returncode:
        return "Invalid job id" not in told.stderr
    return bool(told.stdout.strip())
