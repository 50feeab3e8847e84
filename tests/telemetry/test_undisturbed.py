"""Losses and weights after training are the same bit for bit, with a probe every second step and without."""

import contextlib

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.telemetry.models import LENGTH, VOCAB, made, rows  # noqa: E402

import headway  # noqa: E402
from headway.telemetry import Schedule, Watch  # noqa: E402

OFTEN = Schedule(growth=None, every=2, share=None)
STEPS = 7


def trained(folder, watched, *, dtype=None, compiled=None, accumulate=1, inside=False, how="sdpa"):
    """Losses and weights of a training with dropout; `inside` calls the watch within autocast and with gradients."""
    model = made(how, dropout=0.2)
    called = torch.compile(model, backend=compiled) if compiled else model
    grams = headway.ngrams(rows(20).ravel(), 2, vocab=VOCAB)
    watch = Watch(called, rows(), ladder=grams, folder=folder, schedule=OFTEN, autocast=None if inside else dtype)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    data = torch.from_numpy(rows(64, LENGTH + 1, seed=5))
    torch.manual_seed(1)
    losses = []
    for step in range(STEPS):
        if watched and not inside:
            watch.step(step)
        for part in range(accumulate):
            batch = data[torch.randint(64, (4,))]
            autocast = torch.autocast("cpu", dtype=dtype) if dtype else contextlib.nullcontext()
            with autocast:
                if watched and inside and part == 0:
                    watch.step(step)
                loss = called(batch[:, :-1], batch[:, 1:])
            (loss / accumulate).backward()
            losses.append(loss.item())
        optimiser.step()
        optimiser.zero_grad()
    if watched:
        watch.finish(STEPS)
        assert watch.failures == [] and model.training
        times = headway.load(watch.path).trajectory.times("loss")
        assert times.tolist() == [0, 2, 4, 6, 7]
    return losses, [parameter.detach().numpy() for parameter in model.parameters()]


CASES = {
    "float32": {},
    "bf16": {"dtype": torch.bfloat16},
    "bf16, measured within autocast": {"dtype": torch.bfloat16, "inside": True},
    "accumulated": {"accumulate": 3},
    "compiled": {"compiled": "aot_eager"},
    "compiled, accumulated, bf16": {"compiled": "aot_eager", "accumulate": 2, "dtype": torch.bfloat16},
    "nn.MultiheadAttention": {"how": "multihead"},
}


@pytest.mark.parametrize("case", CASES)
def test_training_ends_with_the_same_bits(case, tmp_path):
    without, with_it = (trained(tmp_path, watched, **CASES[case]) for watched in (False, True))
    assert without[0] == with_it[0]
    assert all(np.array_equal(a, b) for a, b in zip(without[1], with_it[1], strict=True))


def test_what_a_forward_pass_changes_in_the_model_is_put_back():
    """A buffer that counts, a module that was in evaluation mode, and random numbers that are drawn."""
    from headway.telemetry.undisturbed import undisturbed

    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(1))
            self.frozen = torch.nn.Dropout(0.5).eval()

        def forward(self):
            self.count += 1
            return torch.rand(3), np.random.random()  # noqa: NPY002

    model = Counting()
    torch.manual_seed(0)
    with undisturbed(model, None):
        assert not model.training and not torch.is_grad_enabled()
        before = model()
    assert model.count == 0 and model.training and not model.frozen.training
    after = model()
    torch.testing.assert_close(before[0], after[0])
    assert before[1] == after[1]


def test_everything_is_put_back_where_the_probe_fails():
    from headway.telemetry.undisturbed import undisturbed

    model = made(dropout=0.5)
    state = torch.get_rng_state()
    with contextlib.suppress(RuntimeError), undisturbed(model, torch.bfloat16):
        torch.rand(5)
        raise RuntimeError("out of luck")
    assert model.training and torch.is_grad_enabled() and torch.equal(state, torch.get_rng_state())
