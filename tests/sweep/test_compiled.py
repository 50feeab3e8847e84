"""Compiled programs are found again by other processes, whole, and nobody else's choice is changed."""

import jax
import jax.numpy as jnp
import pytest
from jax import monitoring

from headway.sweep import compiled

HITS = "/jax/compilation_cache/cache_hits"


@pytest.fixture
def elsewhere(monkeypatch):
    """As in a process that has chosen no place for compiled programs."""
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


def files(root):
    return {path.name for path in (root / compiled.FOLDER / compiled.kind_of_machine()).iterdir()}


def test_a_program_is_compiled_once_for_all_processes(tmp_path, elsewhere, hits):
    with compiled.kept_compiled(tmp_path):
        compile_anew(17.25)
    made = files(tmp_path)
    assert made and all(name.endswith("-cache") for name in made), "and nothing else is left"
    before = len(hits)
    with compiled.kept_compiled(tmp_path):
        compile_anew(17.25)
    assert len(hits) > before
    assert files(tmp_path) == made


def test_what_was_compiled_can_be_shared_before_the_end_and_what_others_share_is_taken(tmp_path, elsewhere):
    with compiled.kept_compiled(tmp_path):
        compile_anew(18.25)
        assert not any(name.endswith("-cache") for name in files(tmp_path))
        compiled.share()
        assert any(name.endswith("-cache") for name in files(tmp_path))
        own, common = compiled._shares[-1]
        (common / "jit_of_others-cache").write_bytes(b"whole")
        compiled.share()
        assert (own / "jit_of_others-cache").read_bytes() == b"whole"


def test_half_a_program_that_a_killed_process_left_is_never_seen_by_others(tmp_path, elsewhere):
    dead = tmp_path / compiled.FOLDER / compiled.kind_of_machine() / f"{compiled.OWN}0123"
    dead.mkdir(parents=True)
    (dead / "jit_half-cache").write_bytes(b"ha")
    (dead.parent / f"{dead.name}.lock").touch()
    with compiled.kept_compiled(tmp_path):
        assert not dead.exists()
    assert files(tmp_path) == set()


def test_a_file_system_where_a_file_has_one_name_gets_whole_copies(tmp_path, elsewhere, monkeypatch):
    def refuse(*names):
        raise OSError("no links here")

    monkeypatch.setattr(compiled.os, "link", refuse)
    with compiled.kept_compiled(tmp_path):
        compile_anew(19.25)
    assert files(tmp_path) and all(name.endswith("-cache") for name in files(tmp_path))


def test_who_chose_a_place_keeps_it_and_who_cannot_write_does_without(tmp_path, elsewhere):
    (tmp_path / "file").touch()
    with compiled.kept_compiled(tmp_path / "file"):
        assert getattr(jax.config, compiled.PLACE) is None
    jax.config.update(compiled.PLACE, str(tmp_path / "chosen"))
    with compiled.kept_compiled(tmp_path):
        assert getattr(jax.config, compiled.PLACE) == str(tmp_path / "chosen")
    assert not (tmp_path / compiled.FOLDER).exists()
