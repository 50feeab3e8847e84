"""Whether a traced program may run beside others on a CPU: not if it makes XLA's threads wait for each other.

A routine of LAPACK (`jnp.linalg`) waits, on one of XLA's threads, for work that it hands to the others. Where as many
wait as there are threads, they wait for ever: jaxlib 0.10.2 does so with two factorisations on two cores. XLA's own
operations and Headway's kernels do not wait in this way; of calls that somebody else wrote nobody knows.
"""

from typing import Any

import jax

from headway.training.liveness import inner

OURS = "headway_"
"""Before the names of Headway's own calls."""
_LINALG = frozenset(name.removesuffix("_p") for name in dir(jax.lax.linalg) if name.endswith("_p"))
_CALLS = frozenset(("fft", "custom_call", "pure_callback", "io_callback", "debug_callback"))


def blocks(jaxpr: Any) -> bool:
    """Whether it, or anything that it calls, may wait for threads of XLA."""
    return any(_may_wait(equation) or any(map(blocks, inner(equation))) for equation in jaxpr.eqns)


def _may_wait(equation: Any) -> bool:
    name = equation.primitive.name
    if name == "ffi_call":
        return not equation.params["target_name"].startswith(OURS)
    return name in _LINALG or name in _CALLS
