"""A run of a user's code is named by what the code does: not by its comments, its layout or where its file lies."""

import importlib.util
import textwrap

import optax
import pytest

from headway.settings.source import digest_of, name_of

FILE = '''
import math

SCALE = 2.0


def helper(x):
    return SCALE * x


class Task:
    """Words."""

    def sample(self, key):
        return helper(key) + 1
'''


@pytest.fixture
def digest(tmp_path):
    count = iter(range(100))

    def of(text: str, name: str = "Task") -> str:
        path = tmp_path / f"user_{next(count)}.py"
        path.write_text(textwrap.dedent(text))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        import sys

        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        return digest_of(getattr(module, name))

    return of


def test_the_same_code_in_another_file_is_the_same(digest):
    assert digest(FILE) == digest(FILE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return helper(key) + 1", "return helper(key) + 1  # why"),
        ('"""Words."""', '"""Other words."""'),
        ("\n\n\n", "\n\n"),
    ],
    ids=["a comment", "a docstring", "empty lines"],
)
def test_words_and_layout_do_not_count(digest, old, new):
    assert old in FILE and digest(FILE) == digest(FILE.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [("key) + 1", "key) + 2"), ("SCALE * x", "SCALE + x"), ("SCALE = 2.0", "SCALE = 3.0")],
    ids=["the code itself", "a function that it calls", "a number that the function uses"],
)
def test_what_changes_the_numbers_counts(digest, old, new):
    assert old in FILE and digest(FILE) != digest(FILE.replace(old, new))


def test_what_is_not_used_does_not_count(digest):
    assert digest(FILE) == digest(FILE + "\n\ndef judge(claim, results):\n    return 1\n")


def test_transformations_of_optax_differ_by_their_numbers():
    assert digest_of(optax.adamw(1e-3)) == digest_of(optax.adamw(1e-3))
    assert len({digest_of(each) for each in (optax.adamw(1e-3), optax.adamw(2e-3), optax.lion(1e-3))}) == 3


def test_a_closure_is_named_by_what_it_holds():
    def made(rate):
        def optimiser(learning_rate):
            return optax.sgd(rate * learning_rate)

        return optimiser

    assert digest_of(made(1.0)) == digest_of(made(1.0)) != digest_of(made(2.0))
    assert name_of(made(1.0)).endswith("made.optimiser")
