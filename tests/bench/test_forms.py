"""Paper A's other models are those of the experiments, and PyTorch computes the same before anything is timed."""

import importlib.util
import threading
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks.bench import turns
from benchmarks.bench.agreement import check_step
from benchmarks.bench.cases import cases
from benchmarks.bench.forms import FORMS, asking, batches_of, form_settings, period
from benchmarks.bench.headway_side import begin
from benchmarks.bench.record import BenchError
from benchmarks.floor import of_step
from headway.experiments import find
from headway.kernels import simple
from headway.training.checkpoint import fill
from headway.training.problem import new_model
from headway.training.sizes import rows_of
from headway.training.steps import ROOM

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")


@pytest.fixture(autouse=True, scope="module")
def compiled_in_a_hurry():
    """The same numbers, in a third of the time."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


def written_out(settings, weights, sequences):
    """Loss and gradient of one batch by the simple form."""
    template = jax.eval_shape(lambda: new_model(settings, jnp.uint32(0), 1.0))

    def gradient(model):
        shares = jnp.ones(len(sequences))
        return simple.gradient(model, rows_of(settings.task), jnp.asarray(sequences), shares, None, len(sequences))

    loss, grads = jax.jit(gradient)(fill(template, weights))
    return float(loss), {
        jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in jax.tree.leaves_with_path(grads)
    }


@needs_torch
@pytest.mark.parametrize("name", FORMS)
def test_pytorch_has_the_loss_and_gradient_of_every_form(name):
    from benchmarks.bench.rivals.transformer_training import laid_out, torch_gradient

    settings, generator = form_settings(name, quick=True), np.random.default_rng(0)
    template = jax.eval_shape(lambda: new_model(settings, jnp.uint32(0), 1.0))
    weights = {
        jax.tree_util.keystr(path): 0.4 * generator.standard_normal(leaf.shape).astype(np.float32)
        for path, leaf in jax.tree.leaves_with_path(template)
    }
    sequences = generator.integers(8, size=(16, settings.task.length + 1)).astype(np.int32)
    loss, grads = written_out(settings, weights, sequences)
    (inputs,), (targets,) = batches_of(settings, sequences)
    own_loss, own = torch_gradient(settings, weights, inputs, targets, asking(settings), gpu=False)
    ours = laid_out(settings, grads)
    assert own_loss == pytest.approx(loss, rel=1e-5)
    assert own.keys() == ours.keys()
    for array, values in own.items():
        np.testing.assert_allclose(values, ours[array], atol=1e-5 * np.abs(values).max(), err_msg=array)


@pytest.fixture(scope="module")
def step():
    begun = begin(form_settings("without-norm", quick=True), 2)
    return begun.settings, begun.second_step(), begun.sequences


def test_a_step_of_the_timed_program_gives_its_gradient_away(step):
    """The first step of an epoch has dropout; the second has the loss and clipped gradient of the plain model."""
    settings, second, sequences = step
    loss, grads = written_out(settings, second.weights, sequences[second.rows])
    assert settings.model.dropout and period(settings) == 3
    assert second.loss == pytest.approx(loss, rel=1e-5)
    shrink = min(1.0, 1.0 / np.sqrt(sum(np.sum(each**2) for each in grads.values())))
    for name, values in grads.items():
        np.testing.assert_allclose(second.gradient[name], shrink * values, atol=1e-5 * np.abs(values).max())


@needs_torch
def test_a_program_that_computes_something_else_is_not_timed(step):
    settings, second, sequences = step
    found = check_step(settings, second, sequences, gpu=False)
    assert found["loss"] < 1e-6 and found["gradient"] < 1e-4
    wrong = {name: values * (1.01 if name == ".readout" else 1) for name, values in second.gradient.items()}
    nothing = {name: values * np.nan for name, values in second.gradient.items()}
    for fault in (replace(second, loss=1.001 * second.loss), replace(second, gradient=wrong)):
        with pytest.raises(BenchError, match=r"PyTorch do not compute the same.*Nothing was measured"):
            check_step(settings, fault, sequences, gpu=False)
    with pytest.raises(BenchError, match="the gradient differs by nan"):
        check_step(settings, replace(second, gradient=nothing), sequences, gpu=False)


@needs_torch
def test_a_rival_has_dropout_where_the_run_has_it():
    """At a rate of zero the weights stay, so that steps without dropout repeat their losses epoch by epoch."""
    from benchmarks.bench.rivals.transformer_training import transformer_rival

    settings = form_settings("without-norm", quick=True).changed(training={"learning_rate": 0.0})
    weights = begin(settings, 1).weights
    generator = np.random.default_rng(0)
    drawn = batches_of(settings, generator.integers(8, size=(48, settings.task.length + 1)))
    losses = {}
    for how in ("first-of-epoch", "always"):
        run = settings.changed(training={"dropout": how}, model={"dropout": 0.4})
        rival = transformer_rival("torch", run, weights, drawn, 6, gpu=False, asking=asking(run))
        losses[how] = rival.advance().reshape(2, 3)
    repeated = {how: (first == second).tolist() for how, (first, second) in losses.items()}
    assert repeated == {"first-of-epoch": [False, True, True], "always": [False] * 3}


def test_forms_are_the_runs_of_the_experiments_as_they_ran():
    found = {name: form_settings(name, quick=False) for name in FORMS}
    for name, form in FORMS.items():
        run = find(form.experiment).grids["as-run"][form.run]
        assert found[name].model == run.model
        assert found[name].training == run.training
        assert (found[name].task.blocks, found[name].task.references) == (run.task.blocks, ())
    assert len({(each.model, each.task, each.training) for each in found.values()}) == len(FORMS) == 20
    assert {name: each.task.context for name, each in found.items() if each.task.context} == {
        "full-4-gram": 4, "full-12-gram": 12, "minimal-6-gram": 6,
    }  # fmt: skip
    assert found["dropout-always"].training.dropout == "always"


@pytest.mark.parametrize("gpu", [False, True], ids=["cpu", "gpu"])
@pytest.mark.parametrize("scale", ["paper", "quick"])
def test_whole_epochs_are_timed_where_only_their_first_step_has_dropout(gpu, scale):
    for each in cases("forms", scale, gpu, None):
        pace, epoch = each.pace, period(each.settings)
        assert pace.headway_steps % epoch == pace.rival_steps % epoch == 0
        assert pace.headway_steps <= ROOM
        assert each.seeds == (8 if gpu else 2)


def test_a_window_ends_before_the_token_that_it_predicts():
    settings = form_settings("full-12-gram", quick=True)
    sequences = np.arange(2 * 16 * 9).reshape(32, 9)  # 4 tokens, then 5 that are predicted
    inputs, targets = batches_of(settings, sequences)
    assert inputs.shape == (2, 16 * 5, 4) and targets.shape == (2, 16 * 5, 1)
    assert inputs[0, :2].tolist() == [[0, 1, 2, 3], [1, 2, 3, 4]]
    assert (targets[..., 0] == inputs[..., -1] + 1).all()


def test_a_step_of_an_n_gram_model_has_the_products_of_all_its_windows():
    settings = form_settings("full-12-gram", quick=True)
    twice = settings.changed(task={"horizon": 2 * settings.task.horizon})
    assert of_step(twice) == pytest.approx(2 * of_step(settings), rel=0.05), "but for merging matrices once"


def test_nobody_prepares_while_somebody_is_timed(tmp_path):
    lock, seen = tmp_path / "lock", []

    def prepare():
        with turns.beside(lock):
            seen.append("prepared")

    with turns.beside(lock):
        prepare()  # two at once
    with turns.alone(lock):
        waiting = threading.Thread(target=prepare)
        waiting.start()
        waiting.join(0.05)
        seen.append("timed")
    waiting.join()
    assert seen == ["prepared", "timed", "prepared"]


def test_a_rival_refuses_what_it_was_not_written_for():
    torch = pytest.importorskip("torch")
    from benchmarks.bench.rivals.torch_transformer import TorchTransformer
    from headway.tasks.task import shape_of

    settings = form_settings("rotary", quick=True)
    assert isinstance(TorchTransformer(settings.model, shape_of(settings.task)), torch.nn.Module)
    for change in ({"positions": "relative-keys"}, {"attention": "linear"}):
        with pytest.raises(ValueError, match="not written for them"):
            TorchTransformer(replace(settings.model, **change), shape_of(settings.task))
