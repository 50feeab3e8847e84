"""GPUs and MPS of a machine that has neither: programs with their names stand in for NVIDIA's."""

import time

import pytest

from headway.sweep.engines import gpus, mps
from headway.sweep.engines.gpus import Gpu
from headway.sweep.engines.layout import Layout, widest

LIST = "0, GPU-aaaa-1, 143771, NVIDIA H200\n1, GPU-bbbb-2, 81559, NVIDIA H100\n2, GPU-cccc-3, [N/A], a part of one\n"


@pytest.fixture
def program(tmp_path):
    """program(name, script): something to run under that name, alone in the PATH with the usual ones."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def write(name, script):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
        return {"PATH": f"{folder}:/usr/bin:/bin"}

    return write


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        ({}, ["0", "1"]),
        ({"CUDA_VISIBLE_DEVICES": "1"}, ["1"]),
        ({"CUDA_VISIBLE_DEVICES": "GPU-bb,0"}, ["1", "0"]),
        ({"CUDA_VISIBLE_DEVICES": "1,9,0"}, ["1"]),
        ({"CUDA_VISIBLE_DEVICES": ""}, []),
        ({"JAX_PLATFORMS": "cpu"}, []),
        ({"JAX_PLATFORMS": "cuda,cpu"}, ["0", "1"]),
    ],
)
def test_gpus_are_those_that_jax_would_see(program, monkeypatch, chosen, found):
    environ = program("nvidia-smi", f"cat <<'end'\n{LIST}end")
    monkeypatch.setattr(gpus, "jax_has_cuda", lambda: True)
    listed = gpus.gpus({**environ, **chosen})
    assert [gpu.index for gpu in listed] == found
    assert not listed or listed[0].memory in (143771 << 20, 81559 << 20)
    assert gpus.gpus({**chosen, "PATH": "/nowhere"}) == ()


def test_a_jax_without_cuda_uses_no_gpu(program, monkeypatch):
    monkeypatch.setattr(gpus, "jax_has_cuda", lambda: False)
    assert gpus.gpus(program("nvidia-smi", f"cat <<'end'\n{LIST}end")) == ()


def test_as_many_workers_as_cores_and_devices_allow_with_their_share_of_the_memory():
    h200 = Gpu("0", 140 << 30)
    assert widest((h200,), 16, {}) == Layout(12, (h200,), 4, 0.9)
    assert widest((h200,), 4, {}).workers == 3
    assert widest((h200, h200), 64, {}).workers == 24
    assert widest((h200,), 16, {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.48"}).share == pytest.approx(0.04)
    assert widest((h200,), 16, {"XLA_PYTHON_CLIENT_MEM_FRACTION": "much"}).fraction == 0.9
    layout = Layout(9, (h200,))
    assert layout.limit.free == pytest.approx(0.9 * 0.1 * (140 << 30), rel=1e-6)


def until(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


@pytest.fixture
def control(program, tmp_path):
    """A daemon that notes what it is told, and where its pipes are."""
    said = tmp_path / "said"
    return said, program(
        "nvidia-cuda-mps-control",
        f'if [ "$1" = -d ]; then echo "begin $CUDA_MPS_PIPE_DIRECTORY$CUDA_VISIBLE_DEVICES" >> {said}; '
        f"else cat >> {said}; fi",
    )


def test_a_service_is_started_in_our_folder_and_stopped(control, tmp_path, monkeypatch):
    said, environ = control
    monkeypatch.setattr(mps, "USUAL", tmp_path / "none")
    service, words = mps.start(tmp_path / "mps", {**environ, "CUDA_VISIBLE_DEVICES": "3"})
    assert service.ours and "through MPS" in words
    assert service.environment["CUDA_MPS_PIPE_DIRECTORY"] == str(tmp_path / "mps") and (tmp_path / "mps").is_dir()
    service.stop()
    assert said.read_text() == f"begin {tmp_path / 'mps'}\nquit\n" and not (tmp_path / "mps").exists()


def test_it_ends_when_its_starter_is_killed(control, tmp_path, monkeypatch):
    """The pipe is all that holds it: it closes with the process, whatever killed that."""
    said, environ = control
    monkeypatch.setattr(mps, "USUAL", tmp_path / "none")
    service, _ = mps.start(tmp_path / "mps", environ)
    service._shell.stdin.close()
    until(lambda: said.read_text().endswith("quit\n") and not (tmp_path / "mps").exists())
    service._shell.wait()


def test_without_it_or_with_somebody_elses_the_command_says_so(program, tmp_path, monkeypatch):
    monkeypatch.setattr(mps, "USUAL", tmp_path / "usual")
    service, words = mps.start(tmp_path / "mps", {"PATH": "/nowhere"})
    assert service is None and "is not installed" in words
    refusing = program("nvidia-cuda-mps-control", "exit 1")
    service, words = mps.start(tmp_path / "mps", refusing)
    assert service is None and "could not start" in words and not (tmp_path / "mps").exists()
    assert "too long a path" in mps.start(tmp_path / ("m" * 99), refusing)[1]
    (tmp_path / "usual").mkdir()
    (tmp_path / "usual" / "control").touch()
    service, words = mps.start(tmp_path / "mps", refusing)
    assert not service.ours and service.environment == {} and "that is running" in words
    service.stop()
