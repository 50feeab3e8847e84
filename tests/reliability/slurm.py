"""A real Slurm of two nodes on loopback: munged, slurmctld and two slurmd, without systemd.

Each node is a process namespace in which a shell starts slurmd again when it dies, as systemd would. To kill the shell
is to pull the plug: every process of the node dies with it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.reliability.places import DEBIAN, LIBRARIES, environment
from tests.reliability.processes import below, end, free_ports, kill, wait_until

NODES = ("first", "second")
PLUGINS = LIBRARIES / "slurm-wlm"
PROGRAMS = DEBIAN / "usr/sbin"
CONFIGURATION = """\
ClusterName=headway
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# cred_expire is also how long a job waits that goes back to the queue.
AuthInfo=socket={folder}/munge.socket,cred_expire=15
CredType=cred/munge
PluginDir={plugins}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=10
KillWait=30
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName=first NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1 RealMemory=4000
NodeName=second NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1 RealMemory=4000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    """Daemons that live in one folder; `variables` are what its commands need."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("state", *(f"spool/{node}" for node in NODES)):
            (folder / name).mkdir(parents=True)
        text = CONFIGURATION.format(folder=folder, plugins=PLUGINS, ports=free_ports(3))
        (folder / "slurm.conf").write_text(text)
        (folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
        places = os.pathsep.join(map(str, (LIBRARIES, PLUGINS)))
        self.variables = {"SLURM_CONF": str(folder / "slurm.conf"), "LD_LIBRARY_PATH": places}
        subprocess.run([PROGRAMS / "mungekey", "-c", "-k", folder / "munge.key"], check=True, env=self._environment())
        self.munge = self._start("munged", "munged", "--force", "-F", *self._munge())
        wait_until((folder / "munge.socket").exists, 20, "munged")
        self.controller = self._controller()
        self.nodes = {name: self._node(name) for name in NODES}
        self.wait_for_nodes()

    def call(self, *command: str) -> str:
        return subprocess.run(command, capture_output=True, text=True, env=self._environment(), timeout=60).stdout

    def wait_for_nodes(self) -> None:
        wait_until(lambda: self.up() == set(NODES), 90, "two nodes that take jobs")

    def up(self) -> set[str]:
        told = self.call("sinfo", "--noheader", "--Node", "--format=%N %t").splitlines()
        return {line.split()[0] for line in told if line.split()[1] in ("idle", "alloc", "mix", "comp")}

    def jobs(self) -> list[str]:
        """The jobs that run or wait."""
        return self.call("squeue", "--noheader", "--array", "--format=%A").split()

    def kill_daemon(self, node: str) -> None:
        """slurmd dies; the node's jobs live on and slurmd comes back."""
        kill([pid for pid in below(self.nodes[node].pid) if _name(pid).startswith("slurmd")])

    def kill_node(self, node: str) -> None:
        end([self.nodes[node]])

    def start_node(self, node: str) -> None:
        self.nodes[node] = self._node(node)

    def kill_controller(self) -> None:
        end([self.controller])

    def start_controller(self) -> None:
        self.controller = self._controller()

    def close(self) -> None:
        self.call("scancel", "--user=root")
        end([*self.nodes.values(), self.controller, self.munge])

    def _controller(self) -> subprocess.Popen:
        return self._start("slurmctld", "slurmctld-wlm", "-D")

    def _node(self, name: str) -> subprocess.Popen:
        daemon = f"{PROGRAMS}/slurmd-wlm -D -N {name} -d {PROGRAMS}/slurmstepd-wlm"
        namespace = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
        return self._start(f"slurmd-{name}", *namespace, "sh", "-c", f"while :; do {daemon}; sleep 3; done")

    def _munge(self) -> list[str]:
        files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        return [f"--{option}={self.folder}/munge.{name}" for option, name in files.items()]

    def _start(self, log: str, *command: str) -> subprocess.Popen:
        with (self.folder / f"{log}.out").open("ab") as file:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env=self._environment(),
                start_new_session=True,
            )

    def _environment(self) -> dict[str, str]:
        return environment(**self.variables)


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
