"""How members begin, compiled in little time: the same bits as with the compiler left as it is."""

from dataclasses import replace
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from headway import presets
from headway.records import Cell
from headway.tasks.run import Settings
from headway.training import steps
from headway.training.group import Group
from headway.training.program import Program


def begun(settings: Settings, *, tokens: bool) -> list[np.ndarray]:
    """Everything that two members begin with."""
    posed = Group([Cell(settings, (0, 1))]).program
    program = Program(replace(posed.problem, tokens=tokens), posed.members, 2)
    program.begin()
    return [np.asarray(leaf) for pack in program._packs for leaf in jax.tree.leaves((pack.state, pack.data))]


@pytest.mark.bits
@pytest.mark.parametrize("model", ["minimal", "full"])
def test_the_cheaper_compilation_gives_the_same_bits(model):
    settings = getattr(presets, f"{model}_quick")().changed(training={"samples": 64, "test_samples": 16})
    for cheap, usual in zip(begun(settings, tokens=True), begun(settings, tokens=False), strict=True):
        np.testing.assert_array_equal(cheap, usual)


def test_only_rows_of_tokens_are_compiled_so(monkeypatch):
    """And nothing, where somebody chose how XLA compiles."""
    problem = Group([Cell(presets.minimal_quick(), (0,))]).program.problem
    assert problem.tokens
    asked, as_usual = [], jax.jit

    def noted(function, compiler_options=None):
        asked.append(compiler_options)
        return as_usual(function)

    monkeypatch.setattr(steps.jax, "jit", noted)
    monkeypatch.setattr(steps, "_HAS_EMITTERS", True)
    monkeypatch.setenv("XLA_FLAGS", "")
    for each in (problem, replace(problem, tokens=False)):
        steps.compiled.__wrapped__(each)
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=0")
    steps.compiled.__wrapped__(problem)
    level, emitters = steps._LEVEL, steps._EMITTERS
    assert asked[:: len(steps.Compiled._fields)] == [{level: 1, emitters: False}, {level: 1}, {}]


def test_on_a_gpu_no_products_are_triton_s_unless_somebody_chose_so(monkeypatch):
    """There they take three to five times as long to compile."""
    problem = Group([Cell(presets.minimal_quick(), (0,))]).program.problem
    asked, as_usual = [], jax.jit

    def noted(function, compiler_options=None):
        asked.append(compiler_options)
        return as_usual(function)

    monkeypatch.setattr(steps.jax, "jit", noted)
    monkeypatch.setattr(steps.jax, "devices", lambda: [SimpleNamespace(platform="gpu")])
    monkeypatch.setenv("XLA_FLAGS", "")
    steps.compiled.__wrapped__(problem)
    monkeypatch.setenv("XLA_FLAGS", f"--{steps._TRITON}=true")
    steps.compiled.__wrapped__(problem)
    functions = len(steps.Compiled._fields)
    assert asked == [{steps._TRITON: False}] * functions + [{}] * functions
