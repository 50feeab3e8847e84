"""What engines are told, and what they make of it, without a cluster."""

import sys
from pathlib import Path

import pytest

from headway.settings import SettingsError
from headway.sweep.engines import NAMES, Order, engine
from headway.sweep.engines import ray as ray_tasks
from headway.sweep.engines import slurm as jobs
from headway.sweep.engines.gpus import Gpu
from headway.sweep.engines.launch import command
from headway.sweep.engines.layout import Layout
from headway.sweep.engines.options import FILE, given, read_options

TOML = """
[slurm]
partition = "gpu"
time = "4:00:00"
gpus = 2
[slurm.sbatch]
reservation = "night"
[ray]
address = "10.0.0.1:6379"
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "cluster.toml"
    path.write_text(TOML)
    return path


def chosen(*words, file=None):
    return read_options("slurm", given("slurm", words, file, NAMES[1:]), jobs.OPTIONS, ("sbatch",))


def test_the_command_line_goes_over_the_file_and_both_over_nothing(file):
    assert chosen("time=30", "sbatch.nice=5", file=file) == {
        "partition": "gpu",
        "time": 30,
        "gpus": 2,
        "sbatch": {"reservation": "night", "nice": "5"},
    }
    assert given("ray", (), file, NAMES[1:]) == {"address": "10.0.0.1:6379"}
    assert given("processes", (), file, NAMES[1:]) == {}


def test_a_file_in_the_working_folder_is_used_unless_another_is_named(file, tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    assert chosen() == {}
    FILE.write_text("[slurm]\ncpus = 7\n")
    assert chosen() == {"cpus": 7}
    assert chosen(file=file)["gpus"] == 2


def test_slurm_is_told_in_its_own_words():
    told = jobs.parameters(chosen("memory=8G", "cpus=4", "at_once=9", "grace=30", "setup=module load cuda", "jobs=5"))
    assert told == {
        "job_name": "headway",
        "time": 60,
        "mem": "8G",
        "cpus_per_task": 4,
        "array_parallelism": 9,
        "signal_delay_s": 30,
        "setup": ["module load cuda"],
        "additional_parameters": {"requeue": True},
    }


@pytest.mark.parametrize(
    ("text", "minutes"), [("90", 90), ("1:30", 2), ("4:00:00", 240), ("1-0", 1440), ("2-12", 3600), ("1-1:30", 1530)]
)
def test_times_are_read_as_slurm_reads_them(text, minutes):
    """90 is minutes, 1:30 is minutes and seconds, 1-0 is days and hours; a job gets whole minutes."""
    assert jobs.minutes(text) == minutes


def test_ray_is_told_in_its_own_words():
    words = {"cpus": "2", "gpus": "0.5", "memory": "1.5G", "retries": "4", "resources.big": "1"}
    found = ray_tasks.resources(read_options("ray", words, ray_tasks.OPTIONS, ("resources",)))
    assert found == {
        "num_cpus": 2,
        "num_gpus": 0.5,
        "memory": 3 * 2**29,
        "resources": {"big": 1},
        "max_retries": 4,
        "retry_exceptions": True,
    }


@pytest.mark.parametrize(
    ("on", "options", "words"),
    [
        ("nowhere", {}, "it must be here, processes:N (as in processes:4), slurm, ray or auto."),
        ("slurm:4", {}, "it must be here, processes:N"),
        ("processes", {}, "from 1 to 4096, as in processes:4"),
        ("processes:0", {}, "from 1 to 4096"),
        ("processes:-1", {}, "from 1 to 4096"),
        ("processes:²", {}, "from 1 to 4096"),
        ("processes:2", {"partition": "gpu"}, "processes has no option 'partition'. It has retries"),
        ("slurm", {"partitoin": "gpu"}, "slurm has no option 'partitoin'. Did you mean 'partition'?"),
        ("slurm", {"sbatch.": "gpu"}, "slurm has no option 'sbatch.'"),
        ("slurm", {"time": "soon"}, "time is 'soon', but it is the limit of a job"),
        ("slurm", {"time": "0"}, "at least one minute"),
        ("slurm", {"cpus": "0"}, "cpus is '0', but it is cores of a job: at least 1"),
        ("slurm", {"gpus": "many"}, "gpus is 'many', but it is GPUs of a job"),
        ("ray", {"memory": "much"}, "memory is 'much'"),
        ("ray", {"cpus": "nan"}, "cpus is 'nan'"),
        ("ray", {"resources.big": "much"}, "resources.big is 'much'"),
    ],
)
def test_what_an_engine_does_not_understand_is_refused_by_name(on, options, words):
    with pytest.raises(SettingsError) as error:
        engine(on, options)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[slurm", "is not TOML"),
        ("[slrum]\n", "has 'slrum', but it may hold the tables processes, slurm, ray"),
        ("slurm = 3\n", "has 'slurm', but it may hold the tables"),
    ],
)
def test_a_file_that_says_something_else_is_refused(tmp_path, content, words):
    path = tmp_path / "cluster.toml"
    path.write_text(content)
    with pytest.raises(SettingsError) as error:
        given("slurm", (), path, NAMES[1:])
    assert words in str(error.value) and str(path) in str(error.value)


def test_a_file_that_is_not_there_and_a_word_without_a_value_are_refused(tmp_path):
    with pytest.raises(SettingsError, match="cannot be read"):
        given("slurm", (), tmp_path / "nothing.toml", NAMES[1:])
    with pytest.raises(SettingsError, match="a name and a value"):
        given("slurm", ("partition",), None, NAMES[1:])


def test_an_engine_that_is_not_installed_says_what_to_install(monkeypatch, tmp_path):
    (tmp_path / "sbatch").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("submitit", "ray"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SettingsError, match=r"needs submitit, which is not installed\. .*pip install '\.\[slurm\]'"):
        engine("slurm", {})
    with pytest.raises(SettingsError, match=r"needs Ray, which is not installed\. .*pip install '\.\[ray\]'"):
        engine("ray", {})


def test_slurm_without_its_commands_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SettingsError, match="there is no sbatch here"):
        engine("slurm", {})


def test_workers_of_one_machine_share_its_devices_evenly():
    """Two of four on each GPU, with half of nine tenths of it; beside them one that sees none."""
    layout = Layout(4, (Gpu("0", 80 << 30), Gpu("5", 80 << 30)), beside=1)
    found = [layout.environment(number, "device") for number in range(4)]
    assert [each["CUDA_VISIBLE_DEVICES"] for each in found] == ["0", "5", "0", "5"]
    assert {each["XLA_PYTHON_CLIENT_MEM_FRACTION"] for each in found} == {"0.4500"}
    assert {each["JAX_PLATFORMS"] for each in found} == {"cuda,cpu"}, "a GPU, or an error: never a CPU instead"
    beside = layout.environment(4, "cpu")
    assert (beside["JAX_PLATFORMS"], beside["CUDA_VISIBLE_DEVICES"]) == ("cpu", "")
    assert layout.alone().environment(0, "device")["XLA_PYTHON_CLIENT_MEM_FRACTION"] == "0.9000"
    assert {each["OPENBLAS_NUM_THREADS"] for each in found} == {"1"} and "OPENBLAS_NUM_THREADS" not in beside
    assert not any("CUDA" in name or "XLA" in name for name in Layout(4).environment(0, "device"))


def test_a_job_that_slurm_no_longer_lists_is_over_and_while_slurm_does_not_answer_none_is(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert jobs.listed("17"), "there is no squeue"
    for answer, going in (
        ("echo 17_1", True),
        ("true", False),
        ("echo Invalid job id >&2; exit 1", False),
        ("exit 1", True),
    ):
        (tmp_path / "squeue").write_text(f"#!/bin/sh\n{answer}\n")
        (tmp_path / "squeue").chmod(0o755)
        assert jobs.listed("17") is going, answer


def test_a_worker_is_told_its_share():
    order = Order(Path("runs"), Path("runs/.sweep/order.json"), 3)
    one, as_asked = command(order.root, order.path, only=2), command(order.root, order.path, serve=True)
    assert one[1:] == [
        *("-P", "-m", "headway.sweep.worker", "--store", "runs", "--order", "runs/.sweep/order.json"),
        *("--only", "2", "--with-parent"),
    ]
    assert as_asked[-2:] == ["--serve", "--with-parent"]
