"""Nobody is measured before all compute the same."""

import functools
import importlib.util
from dataclasses import replace

import jax
import numpy as np
import pytest

from benchmarks.bench import rivals
from benchmarks.bench.agreement import check
from benchmarks.bench.cases import case
from benchmarks.bench.record import BenchError
from headway.training.checkpoint import flatten
from headway.training.problem import new_model

RIVALS = ("jax",) if importlib.util.find_spec("torch") is None else ("torch", "jax")
each_model = pytest.mark.parametrize("model", ["minimal", "full"])


@pytest.fixture(autouse=True, scope="module")
def compiled_in_a_hurry():
    """The same numbers, in a third of the time."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


@functools.cache
def agreed(model: str):
    return check(case(model, "quick", False).settings, RIVALS, gpu=False)


@each_model
@pytest.mark.parametrize("rival", RIVALS)
def test_a_rival_has_headways_loss_gradients_and_first_steps(model, rival):
    differences = agreed(model)[rival]
    assert differences["loss"] < 2e-6
    assert differences["gradient"] < 2e-5
    assert differences["trained"] < 2e-5


@pytest.mark.parametrize("quantity", ["loss", "gradient", "trained"])
def test_a_rival_that_computes_something_else_is_refused(monkeypatch, quantity):
    """Each of the three comparisons would find a fault by itself."""
    make = rivals.make

    def wrong(*arguments):
        rival = make(*arguments)
        loss, grads = rival.gradient(arguments[3])
        shifted = {name: array + 0.01 * np.abs(array).max() for name, array in grads.items()}
        advance = rival.contestant.advance
        match quantity:
            case "loss":
                return replace(rival, gradient=lambda _: (loss * 1.001, grads))
            case "gradient":
                return replace(rival, gradient=lambda _: (loss, shifted))
            case _:
                return replace(rival, contestant=replace(rival.contestant, advance=lambda: advance() * np.nan))

    monkeypatch.setattr(rivals, "make", wrong)
    with pytest.raises(BenchError, match=r"plain JAX do not compute the same.*Nothing was measured"):
        check(case("minimal", "quick", False).settings, ("jax",), gpu=False)


@pytest.mark.parametrize("name", RIVALS)
def test_dropout_acts_while_a_rival_trains_and_not_while_it_is_compared(name):
    settings = case("full-dropout", "quick", False).settings
    weights = flatten(new_model(settings, jax.numpy.uint32(0), 1.0))
    sequences = np.arange(32 * 9).reshape(32, 9) % 8
    losses = {}
    for rate in (0.0, 0.5):
        with_rate = replace(settings, model=replace(settings.model, dropout=rate))
        rival = rivals.make(name, with_rate, weights, sequences, 1, False)
        losses[rate] = (rival.gradient(sequences)[0], rival.contestant.advance()[0, 0])
    assert losses[0.0] == pytest.approx([losses[0.5][0]] * 2, abs=1e-5)
    assert abs(losses[0.5][1] - losses[0.0][1]) > 1e-3


def test_without_pytorch_one_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(rivals.importlib.util, "find_spec", lambda name: None)
    for name in ("torch", "torch-compile"):
        assert "pip install '.[torch]'" in (rivals.absence(name, gpu=False) or "")
    assert rivals.absence("jax", gpu=True) is None


@pytest.mark.skipif("torch" not in RIVALS, reason="PyTorch is not installed")
def test_without_a_compiler_only_what_needs_it_is_left_out(monkeypatch):
    monkeypatch.setattr(rivals.shutil, "which", lambda name: None)
    assert "C++ compiler" in (rivals.absence("torch-compile", gpu=False) or "")
    assert rivals.absence("torch", gpu=False) is None
