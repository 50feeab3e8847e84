"""The smallest limit counts: of the machine, of the control groups up the tree, of the process, of the job."""

import re
import resource

import pytest

from headway.training.limits import OWN, Limit, limits, smallest

MIB = 2**20
NONE_OF_V1 = 9223372036854771712
V2 = "29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate"
V1 = "33 25 0:29 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory"
NAMES = {
    2: ("memory.max", "memory.current", ("inactive_file", "active_file")),
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file")),
}


@pytest.fixture
def machine(tmp_path):
    """A Linux with 8 GiB available, on which this process holds 100 MiB of its own."""
    own = tmp_path / "proc/self"
    own.mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text(f"MemTotal: {16 << 20} kB\nMemAvailable: {8 << 20} kB\n")
    (own / "status").write_text(f"VmSize: {900 << 10} kB\nRssAnon: {100 << 10} kB\n")
    (own / "cgroup").write_text("")
    (own / "mountinfo").write_text("21 1 8:1 / / rw - ext4 /dev/sda1 rw\n")
    return tmp_path


def placed(machine, group, *mounts):
    """This process is in `group`, and the trees are mounted."""
    (machine / "proc/self/cgroup").write_text(f"7:cpu,cpuacct:/\n{group}\n")
    (machine / "proc/self/mountinfo").write_text("21 1 8:1 / / rw - ext4 /dev/sda1 rw\n" + "\n".join(mounts) + "\n")


def group(folder, version, limit, used=0, cached=0):
    """A control group with a limit, of which so much is used, and so much of that for copies of files."""
    folder.mkdir(parents=True, exist_ok=True)
    of_limit, of_use, lines = NAMES[version]
    (folder / of_limit).write_text(f"{limit}\n")
    (folder / of_use).write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 5\n{lines[0]} {cached}\n{lines[1]} 0\n")


def counts(machine, **environ):
    return smallest(limits(machine, environ))


def test_without_a_limit_it_is_what_the_machine_has_available_and_what_this_process_holds(machine):
    assert counts(machine) == Limit(8292 * MIB, "the machine's free memory")


@pytest.mark.parametrize(
    ("version", "line", "mount", "top", "unlimited"),
    [(2, "0::", V2, "sys/fs/cgroup", "max"), (1, "4:memory:", V1, "sys/fs/cgroup/memory", NONE_OF_V1)],
)
def test_the_smallest_limit_up_the_tree_counts_less_what_others_use(machine, version, line, mount, top, unlimited):
    """500 of 1000 MiB are used: 100 by this process, 150 by copies of files, which go when memory is wanted."""
    placed(machine, f"{line}/job/step/task", mount)
    group(machine / top, version, unlimited)
    group(machine / top / "job", version, 1000 * MIB, 500 * MIB, 150 * MIB)
    group(machine / top / "job/step", version, 3000 * MIB, 500 * MIB)
    group(machine / top / "job/step/task", version, unlimited, 500 * MIB)
    found = counts(machine)
    assert (found.free, found.source) == (750 * MIB, f"the control group's {NAMES[version][0]} in /{top}/job")
    group(machine / top / "job/step/task", version, 600 * MIB, 500 * MIB)
    assert counts(machine).free == 200 * MIB and counts(machine).source.endswith("/job/step/task")


def test_a_group_that_is_throttled_counts_as_limited(machine):
    placed(machine, "0::/job", V2)
    group(machine / "sys/fs/cgroup/job", 2, 4000 * MIB)
    (machine / "sys/fs/cgroup/job/memory.high").write_text(f"{2000 * MIB}\n")
    assert counts(machine).free == 2000 * MIB and "memory.high" in counts(machine).source


@pytest.mark.parametrize("seen", ["/docker/0123", "/", "/../../docker/0123"])
def test_a_container_sees_its_own_group_as_the_top_of_the_tree(machine, seen):
    """By its path outside, of a mount of only that part; by a namespace of its own; from above of it."""
    mounted = "/docker/0123" if seen == "/docker/0123" else "/"
    placed(machine, f"0::{seen}", V2.replace(" / /sys", f" {mounted} /sys"))
    group(machine / "sys/fs/cgroup", 2, 700 * MIB)
    assert counts(machine).free == 700 * MIB


def test_both_versions_are_read_side_by_side_and_paths_with_blanks_too(machine):
    placed(machine, "4:memory:/a\n0::/b", V1.replace("memory rw", r"my\040memory rw"), V2)
    group(machine / "sys/fs/cgroup/my memory/a", 1, 900 * MIB)
    group(machine / "sys/fs/cgroup/b", 2, 800 * MIB)
    assert sorted(each.free // MIB for each in limits(machine, {})) == [800, 900, 8292]


def test_what_cannot_be_read_is_no_limit(machine):
    placed(machine, "0::/job\nnonsense\n4:memory", V2, "half a line", "1 2 3 - cgroup2")
    (machine / "sys/fs/cgroup/job").mkdir(parents=True)
    (machine / "sys/fs/cgroup/job/memory.max").write_text("soon")
    (machine / "sys/fs/cgroup/memory.max").write_bytes(b"\xff")
    assert len(limits(machine, {})) == 1
    assert limits(machine / "nowhere", {}), "another system: half of its memory, if it says how much"


@pytest.mark.parametrize(
    ("variables", "mebibytes", "words"),
    [
        ({"SLURM_MEM_PER_NODE": "4096"}, 4096, "SLURM_MEM_PER_NODE"),
        ({"SLURM_MEM_PER_CPU": "1000", "SLURM_CPUS_ON_NODE": "4"}, 4000, "SLURM_MEM_PER_CPU times 4"),
        ({"SLURM_MEM_PER_CPU": "500", "SLURM_JOB_CPUS_PER_NODE": "8(x2),4"}, 4000, "SLURM_MEM_PER_CPU times 8"),
        ({"SLURM_MEM_PER_GPU": "3000", "SLURM_GPUS_ON_NODE": "2"}, 6000, "SLURM_MEM_PER_GPU times 2"),
        ({OWN: str(50 * MIB)}, 50, OWN),
        ({"SLURM_MEM_PER_NODE": "0"}, 8292, "machine"),
        ({"SLURM_MEM_PER_CPU": "1000"}, 8292, "machine"),
        ({"SLURM_MEM_PER_NODE": "much", OWN: "-1"}, 8292, "machine"),
    ],
)
def test_a_job_has_what_slurm_says(machine, variables, mebibytes, words):
    found = counts(machine, **variables)
    assert found.free == mebibytes * MIB and words in found.source


def test_address_space_that_is_taken_but_not_used_is_not_free(machine, monkeypatch):
    """Of 2000 MiB this process has taken 900, of which it uses 100: it may use 1200 in all."""
    endless = (resource.RLIM_INFINITY,) * 2
    given = {resource.RLIMIT_AS: (2000 * MIB, 4000 * MIB)}
    monkeypatch.setattr(resource, "getrlimit", lambda which: given.get(which, endless))
    found = counts(machine)
    assert found.free == 1200 * MIB and re.search("RLIMIT_AS", found.source)


def test_processes_share_everything_but_what_each_has_for_itself():
    found = [Limit(1000, "machine"), Limit(400, "own", shared=False)]
    assert smallest(found).free == 400
    assert smallest(found, 4) == Limit(250, "machine, for each of 4 processes")
    assert smallest([]) is None
