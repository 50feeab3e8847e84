"""A real Ray cluster of two nodes on this machine: a head with one core and a second node with another."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.reliability.places import environment
from tests.reliability.processes import below, end, free_ports, kill, named, wait_until

MEMORY = str(200 << 20)


class Ray:
    """Both nodes are processes of ours, with everything below them; `variables` are what a driver needs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "r").mkdir()
        self.start()

    def start(self) -> None:
        [port] = free_ports(1)
        self.address = f"127.0.0.1:{port}"
        self.variables = {"RAY_ADDRESS": self.address}
        # Sockets have short names or none: Ray's own folder must not lie deep.
        place = ("--temp-dir", str(self.folder / "r"))
        self.head = self._start("head", "--head", "--port", str(port), "--include-dashboard=false", *place)
        wait_until(lambda: self._alive() == 1, 60, "the head of Ray")
        self.start_node()

    def start_node(self) -> None:
        self.node = self._start("node", "--address", self.address)
        wait_until(lambda: self._alive() == 2, 60, "the second node of Ray")

    def kill_node(self) -> None:
        """Everything on the second node dies."""
        end([self.node])

    def kill_raylet(self) -> None:
        """The daemon of the second node dies, and Ray's own watch over it does the rest."""
        kill([pid for pid in below(self.node.pid) if pid in named("raylet/raylet")])

    def kill_head(self) -> None:
        end([self.head])

    def close(self) -> None:
        end([self.node, self.head])

    def _start(self, name: str, *options: str) -> subprocess.Popen:
        ray = (sys.executable, "-m", "ray.scripts.scripts")
        words = ["start", "--block", "--num-cpus", "1", "--object-store-memory", MEMORY, "--disable-usage-stats"]
        with (self.folder / f"{name}.log").open("ab") as file:
            return subprocess.Popen(
                [*ray, *words, *options], stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True,
                env=environment(),
            )  # fmt: skip

    def _alive(self) -> int:
        """How many nodes the head knows to be alive."""
        words = [sys.executable, "-c", ASK, self.address]
        told = subprocess.run(words, capture_output=True, text=True, env=environment(), timeout=60).stdout.strip()
        return int(told or 0)


ASK = """
import sys
from ray._raylet import GcsClient
print(sum(node.state == 0 for node in GcsClient(address=sys.argv[1]).get_all_node_info(timeout=5).values()))
"""
