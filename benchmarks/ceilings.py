"""The two ceilings of a device: bytes a second of a large copy, operations a second of a large product.

.venv/bin/python benchmarks/ceilings.py
"""

import time

import jax
import jax.numpy as jnp


def seconds(function, argument, repeats: int = 5) -> float:
    """Of one call, compiled before."""
    compiled = jax.jit(function)
    jax.block_until_ready(compiled(argument))
    began = time.perf_counter()
    for _ in range(repeats):
        result = compiled(argument)
    jax.block_until_ready(result)
    return (time.perf_counter() - began) / repeats


if __name__ == "__main__":
    device = jax.devices()[0]
    large = device.platform == "gpu"
    vector = jnp.ones(2**28 if large else 2**26)
    print(f"{device.device_kind}: copy {2 * vector.nbytes / seconds(lambda x: x + 1, vector) / 1e12:.2f} TB/s")
    side = 8192 if large else 2048
    matrix = jax.random.normal(jax.random.key(0), (side, side))
    for precision in ("highest", "tensorfloat32"):
        with jax.default_matmul_precision(precision):
            rate = 2 * side**3 / seconds(lambda x: x @ x, matrix) / 1e12
        print(f"{device.device_kind}: product of {side} x {side}, {precision}: {rate:.3g} TFLOP/s")
