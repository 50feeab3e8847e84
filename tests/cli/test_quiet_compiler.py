"""A long compilation is no error, and nobody is told to file a bug; what XLA cannot compile is still an exception."""

import os
import subprocess
import sys

import pytest
from tests.cli.process import ROOT

# The compiler evaluates this constant itself, which takes it longer than the second after which it complains.
SLOW = """
from headway.cli import main
main(["--version"])
import jax, jax.lax as lax, jax.numpy as jnp
def folded(x):
    return x + lax.reduce_window(jnp.ones((56, 56)), -jnp.inf, lax.max, (43, 43), (1, 1), "SAME").sum()
print(jax.jit(folded)(1.0))
"""
REFUSED = """
from headway.cli import main
main(["--version"])
import jax
jax.jit(lambda x: x + 1, compiler_options={"no_such_option": 1})(1.0)
"""


def after_a_command(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    # Not with programs kept from an earlier compilation: nothing would be slow.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TF_", "XLA_", "JAX_"))}
    own = {"PYTHONPATH": str(ROOT / "src"), "JAX_PLATFORMS": "cpu", **environment}
    return subprocess.run([sys.executable, "-c", program], env=kept | own, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("level, complains", [(None, False), ("1", True)], ids=["as it is", "asked for"])
def test_a_slow_compilation_is_mentioned_only_if_asked_for(level, complains):
    outcome = after_a_command(SLOW, **({} if level is None else {"TF_CPP_MIN_LOG_LEVEL": level}))
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.splitlines()[-1] == "3137.0"
    assert ("file a bug" in outcome.stderr) == complains
    assert complains or outcome.stderr == ""


def test_what_the_compiler_refuses_is_an_exception():
    outcome = after_a_command(REFUSED)
    assert outcome.returncode == 1
    assert "JaxRuntimeError" in outcome.stderr and "no_such_option" in outcome.stderr
