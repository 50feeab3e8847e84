"""Compiled programs are found again by other processes, whole, and nobody else's choice is changed."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest
from jax import monitoring

from headway.kernels import keeping
from headway.store import StoreError
from headway.sweep import compiled

HITS = "/jax/compilation_cache/cache_hits"


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """As in a process that has chosen no place for compiled programs; the user's cache folder is empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = getattr(jax.config, compiled.PLACE)
    jax.config.update(compiled.PLACE, None)
    monkeypatch.setitem(compiled.CHOICES, "jax_persistent_cache_min_compile_time_secs", 0)
    yield
    jax.config.update(compiled.PLACE, before)


@pytest.fixture
def hits():
    """How often a compiled program was found."""
    found = []

    def hear(event, **_more):
        if event == HITS:
            found.append(event)

    monitoring.register_event_listener(hear)
    yield found
    monitoring.unregister_event_listener(hear)


def compile_anew(number):
    """A new function with the same program."""
    return jax.jit(lambda x: jnp.sin(x) * number + jnp.cumsum(x))(jnp.arange(3.0)).block_until_ready()


def common(root):
    return root / "headway" / "compiled" / compiled.kind_of_machine()


def files(root):
    return {path.name for path in common(root).iterdir()}


def silent(words):
    raise AssertionError(words)


def test_a_program_is_compiled_once_for_all_processes(tmp_path, elsewhere, hits):
    with compiled.kept_compiled(silent):
        compile_anew(17.25)
    made = files(tmp_path)
    assert made and all(name.endswith("-cache") for name in made), "and nothing else is left"
    before = len(hits)
    with compiled.kept_compiled(silent):
        compile_anew(17.25)
    assert len(hits) > before
    assert files(tmp_path) == made


def test_what_was_compiled_can_be_shared_before_the_end_and_what_others_share_is_taken(tmp_path, elsewhere):
    with compiled.kept_compiled(silent):
        compile_anew(18.25)
        assert not any(name.endswith("-cache") for name in files(tmp_path))
        compiled.share()
        assert any(name.endswith("-cache") for name in files(tmp_path))
        own, shared = compiled._shares[-1]
        (shared / "jit_of_others-cache").write_bytes(b"whole")
        compiled.share()
        assert (own / "jit_of_others-cache").read_bytes() == b"whole"


def test_half_a_program_that_a_killed_process_left_is_never_seen_by_others(tmp_path, elsewhere):
    with compiled.kept_compiled(silent):
        dead = common(tmp_path) / f"{compiled.OWN}0123"
    dead.mkdir()
    (dead / "jit_half-cache").write_bytes(b"ha")
    (dead.parent / f"{dead.name}.lock").touch()
    with compiled.kept_compiled(silent):
        assert not dead.exists()
    assert files(tmp_path) == set()


def test_a_file_system_where_a_file_has_one_name_gets_whole_copies(tmp_path, elsewhere, monkeypatch):
    def refuse(*names):
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    with compiled.kept_compiled(silent):
        compile_anew(19.25)
    assert files(tmp_path) and all(name.endswith("-cache") for name in files(tmp_path))


def test_who_chose_a_place_keeps_it_and_who_cannot_write_does_without(tmp_path, elsewhere, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with compiled.kept_compiled(silent):
        assert getattr(jax.config, compiled.PLACE) is None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jax.config.update(compiled.PLACE, str(tmp_path / "chosen"))
    with compiled.kept_compiled(silent):
        assert getattr(jax.config, compiled.PLACE) == str(tmp_path / "chosen")
    assert not (tmp_path / "headway").exists()


def test_what_is_kept_does_not_grow_for_ever(tmp_path, elsewhere, monkeypatch):
    with compiled.kept_compiled(silent):
        compile_anew(20.25)
    monkeypatch.setattr(compiled, "MOST_BYTES", 0)
    with compiled.kept_compiled(silent):
        assert not any(name.endswith("-cache") for name in files(tmp_path))


def test_an_error_of_what_is_done_meanwhile_is_not_swallowed(tmp_path, elsewhere):
    with pytest.raises(StoreError), compiled.kept_compiled(silent):
        raise StoreError(tmp_path, "no room", "Make some.", "unwritable")


@pytest.mark.parametrize("how", ["group", "world", "owner", "link", "above"])
def test_a_cache_that_others_could_have_written_is_not_used_and_a_sentence_says_so(
    tmp_path, elsewhere, monkeypatch, how
):
    with compiled.kept_compiled(silent):
        compile_anew(21.25)
    made = files(tmp_path)
    place = tmp_path / "headway" / "compiled"
    if how == "link":
        place.rename(tmp_path / "moved")
        place.symlink_to(tmp_path / "moved")
    elif how == "above":
        tmp_path.chmod(0o777)
    elif how == "owner":
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    else:
        place.chmod(0o770 if how == "group" else 0o707)
    told = []
    with compiled.kept_compiled(told.append):
        assert getattr(jax.config, compiled.PLACE) is None
    assert len(told) == 1 and "compiles anew" in told[0]
    if how == "group":
        place.chmod(0o700)
        assert files(tmp_path) == made, "and nothing was changed there"


def poisoned(folder, ours, theirs):
    """The name of our program, the content of theirs."""
    before = {path.name for path in folder.iterdir()}
    compile_anew(ours)
    compiled.share()
    [name] = [path.name for path in folder.iterdir() if path.name not in before and path.name.endswith("-cache")]
    compile_anew(theirs)
    compiled.share()
    others = {path.name for path in folder.iterdir() if path.name.endswith("-cache")} - before - {name}
    return name, (folder / others.pop()).read_bytes()


def test_a_program_among_the_records_is_never_run_though_one_in_the_users_cache_would_be(
    tmp_path, elsewhere, monkeypatch
):
    """Somebody else's folder of runs comes with machine code under the name of a program of ours."""
    with compiled.kept_compiled(silent):
        name, code = poisoned(common(tmp_path), 22.25, 666.0)
    honest = compile_anew(22.25)
    (common(tmp_path) / name).write_bytes(code)
    with compiled.kept_compiled(silent):
        assert not jnp.array_equal(compile_anew(22.25), honest), "the poison works where programs are loaded from"
    (common(tmp_path) / name).unlink()
    runs = tmp_path / "runs"
    for place in (runs / ".compiled" / compiled.kind_of_machine(), runs / "headway" / "compiled", runs):
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(code)
    monkeypatch.chdir(runs)
    with compiled.kept_compiled(silent):
        assert jnp.array_equal(compile_anew(22.25), honest)


@pytest.mark.parametrize("how", ["group", "link"])
def test_a_single_program_that_others_could_have_written_is_not_taken(tmp_path, elsewhere, how):
    with compiled.kept_compiled(silent):
        name, code = poisoned(common(tmp_path), 23.25, 667.0)
    honest = compile_anew(23.25)
    path = common(tmp_path) / name
    path.unlink()
    if how == "link":
        (tmp_path / "theirs").write_bytes(code)
        path.symlink_to(tmp_path / "theirs")
    else:
        path.write_bytes(code)
        path.chmod(0o660)
    with compiled.kept_compiled(silent):
        assert jnp.array_equal(compile_anew(23.25), honest)


def kernel(name, make):
    """A kernel that is a text."""
    return keeping.kept(name, make, lambda made: ({}, made.encode()), lambda _, body: body.decode())


def never():
    raise AssertionError("another process has made it")


def test_a_kernel_is_everybodys_as_soon_as_it_is_made(tmp_path, elsewhere):
    with compiled.kept_compiled(silent):
        assert kernel("a.ptx", lambda: "made") == "made"
        assert files(tmp_path) >= {"a.ptx"} and not [name for name in files(tmp_path) if name.startswith(".a.ptx")]
        own, shared = compiled._shares[-1]
        (shared / "a.ptx").rename(shared / "b.ptx")
        assert kernel("b.ptx", never) == "made", "as if another process had made it just now"
        assert (own / "b.ptx").exists()


def test_a_damaged_kernel_is_replaced_for_everybody(tmp_path, elsewhere):
    with compiled.kept_compiled(silent):
        kernel("a.ptx", lambda: "made")
    whole = (common(tmp_path) / "a.ptx").read_bytes()
    (common(tmp_path) / "a.ptx").write_bytes(whole[:-1])
    with compiled.kept_compiled(silent):
        assert kernel("a.ptx", lambda: "made") == "made"
        assert (common(tmp_path) / "a.ptx").read_bytes() == whole
        assert kernel("a.ptx", never) == "made"


MAKER = """
import sys, time
from headway.sweep import compiled
from tests.sweep.test_compiled import kernel

def make():
    print("making", flush=True)
    time.sleep(float(sys.argv[1]))
    return "made there"

with compiled.kept_compiled(print):
    kernel("a.ptx", make)
"""


@pytest.fixture
def maker(tmp_path, elsewhere):
    """Another process that makes a kernel, for so many seconds."""
    begun = []

    def begin(seconds):
        environment = {name: value for name, value in os.environ.items() if name != "JAX_COMPILATION_CACHE_DIR"}
        environment |= {"XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", MAKER, str(seconds)]
        begun.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
        assert begun[-1].stdout.readline() == "making\n"
        return begun[-1]

    yield begin
    for process in begun:
        process.kill()
        process.communicate()


def test_what_another_process_is_making_is_waited_for(maker):
    with compiled.kept_compiled(silent):
        process = maker(0.5)
        assert kernel("a.ptx", never) == "made there"
        assert process.wait() == 0


def test_a_process_that_dies_or_takes_too_long_is_not_waited_for(maker, monkeypatch):
    with compiled.kept_compiled(silent):
        process = maker(600)
        monkeypatch.setattr(compiled, "PATIENCE", 0.3)
        assert kernel("a.ptx", lambda: "made here") == "made here"
        own, shared = compiled._shares[-1]
        (own / "a.ptx").unlink()
        (shared / "a.ptx").unlink()
        monkeypatch.setattr(compiled, "PATIENCE", 60.0)
        process.kill()
        process.wait()
        assert kernel("a.ptx", lambda: "made again") == "made again"


def test_a_kernel_that_others_could_have_written_is_not_taken(tmp_path, elsewhere):
    with compiled.kept_compiled(silent):
        kernel("a.ptx", lambda: "theirs")
    (common(tmp_path) / "a.ptx").chmod(0o660)
    with compiled.kept_compiled(silent):
        assert kernel("a.ptx", lambda: "ours") == "ours"
