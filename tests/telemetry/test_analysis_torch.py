"""Tensors of PyTorch go into the analysis as they are."""

import numpy as np
import pytest
from tests.analysis.test_arrays import ARGUMENTS, same

from headway import analysis

torch = pytest.importorskip("torch")


def tensor(values, kind):
    found = torch.from_numpy(np.ascontiguousarray(values))
    return found.requires_grad_() if kind == "gradient" else found


@pytest.mark.parametrize("kind", ["plain", "gradient"])
@pytest.mark.parametrize("name", ARGUMENTS)
def test_tensors_give_what_arrays_do(name, kind):
    foreign = [tensor(each, kind) if isinstance(each, np.ndarray) else each for each in ARGUMENTS[name]]
    same(getattr(analysis, name)(*foreign), getattr(analysis, name)(*ARGUMENTS[name]))


def test_half_precision_is_understood():
    loss = torch.linspace(3, 1, 50, dtype=torch.bfloat16)
    assert analysis.stages_from_loss(torch.arange(1, 51), loss).count >= 0
    assert analysis.as_numpy(loss).dtype == np.float32


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_tensors_of_a_gpu_are_fetched():
    assert analysis.over_seeds(torch.tensor([1.0, 2.0, 4.0], device="cuda")).median == 2
