"""The public analysis takes arrays of any library, and gives what it gives for NumPy's."""

import inspect

import jax.numpy as jnp
import numpy as np
import pytest

from headway import analysis
from headway.analysis.arrays import as_numpy

TIMES = np.unique(np.geomspace(1, 500, 60).round())
FALL = 3 - 2 / (1 + (10 / TIMES) ** 6) - 0.9 / (1 + (150 / TIMES) ** 6)
KL = 0.1 + (np.log(TIMES)[:, None] - np.log([1.0, 10, 200])) ** 2
MASS = np.random.default_rng(0).dirichlet(np.ones(3), (60, 2))
SIZES = np.array([[16.0, 8], [32, 8], [64, 8], [16, 16]])
VALUES = np.random.default_rng(1).uniform(1, 2, (3, 4))
ARGUMENTS = {
    "arrival_order": (np.random.default_rng(2).uniform(size=(5, 4)),),
    "at_end": (VALUES,),
    "by_lag": (np.ones((2, 3, 5)) / 5, 3),
    "calibrate": (SIZES[:, :1], VALUES.T),
    "clarity": (TIMES, FALL, KL),
    "competition": (MASS,),
    "cooperation": (MASS,),
    "distance_from_uniform": (np.full((2, 5), 0.2), 3, 3),
    "first_at_least": (SIZES[:, 0], VALUES, 1.5),
    "first_at_most": (SIZES[:, 0], VALUES, 1.5),
    "fit_power_laws": (SIZES, VALUES),
    "for_good": (SIZES[:, 0], VALUES, 1.2),
    "held_since": (MASS, TIMES[:60]),
    "interval_over_seeds": (VALUES[0],),
    "lines": (SIZES[:, 0], VALUES),
    "mass_per_block": (np.full((2, 5), 0.2), ((1, 2), (3,))),
    "median_in_words": (VALUES[0], None),
    "minima": (TIMES, KL),
    "nearest_rung": (KL,),
    "over_seeds": (VALUES[0],),
    "owners": (MASS, TIMES[:60]),
    "rises_then_falls": (TIMES, KL[:, 0]),
    "slopes": (SIZES[:, 0], VALUES),
    "stages_from_ladder": (TIMES, KL),
    "stages_from_loss": (TIMES, FALL),
    "stages_after_settling": (TIMES, FALL, 0.5),
    "stop_by_patience": (TIMES, FALL, 50.0),
    "stop_by_stages": (TIMES, FALL),
    "visits_in_order": (TIMES, KL),
}
"""Of every public function of arrays."""
NOT_OF_ARRAYS = {"as_numpy", "stage_summary", "uniform_by_lag", "ngrams"}
ARGUMENTS |= {"held_since": (MASS[: len(TIMES)], TIMES), "owners": (MASS[: len(TIMES)], TIMES)}


class OnDevice:
    """What PyTorch's tensors look like from outside: no NumPy before they are detached and on the CPU."""

    def __init__(self, values, there=False):
        self.values, self.there = values, there
        self.dtype = "torch.float64"

    def __array__(self, *_, **__):
        raise TypeError("can't convert a tensor that requires grad, or of a GPU, to numpy")

    def detach(self):
        return OnDevice(self.values)

    def cpu(self):
        return OnDevice(self.values, there=True)

    def numpy(self):
        assert self.there
        return self.values


class OnlyDlpack:
    """An array of a library that NumPy has never heard of."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def same(a, b):
    np.testing.assert_equal(_plain(a), _plain(b))


def _plain(value):
    return tuple(value) if isinstance(value, tuple) else value


def test_every_public_function_is_tried_and_explained():
    functions = {name for name in analysis.__all__ if inspect.isfunction(getattr(analysis, name))}
    assert functions == ARGUMENTS.keys() | NOT_OF_ARRAYS
    for name in analysis.__all__:
        words = inspect.getdoc(getattr(analysis, name))
        assert words and len(words) > 20, f"{name} says nothing"


@pytest.mark.parametrize(
    "library", [OnDevice, OnlyDlpack, lambda values: jnp.asarray(values)], ids=["torch", "dlpack", "jax"]
)
@pytest.mark.parametrize("name", ARGUMENTS)
def test_arrays_of_any_library_give_what_numpys_do(name, library):
    function = getattr(analysis, name)
    numpys = [each.astype(np.float32) if isinstance(each, np.ndarray) else each for each in ARGUMENTS[name]]
    foreign = [library(each) if isinstance(each, np.ndarray) else each for each in numpys]
    same(function(*foreign), function(*numpys))


def test_rows_of_numbers_of_another_library_are_rows_of_numbers():
    row = [jnp.asarray(1.0), jnp.asarray(2.0), jnp.asarray(4.0)]
    assert analysis.over_seeds(row) == analysis.over_seeds([1.0, 2.0, 4.0])
    assert as_numpy(jnp.asarray([1.5], jnp.bfloat16)).dtype == np.float32
