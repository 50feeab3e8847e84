"""Thirty questions are asked about the records that are committed: they are read once."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from headway.lookup import Records, readable
from headway.store import Store

RESULTS = Path(__file__).parents[2] / "results"


@cache
def committed() -> Records:
    return readable([Store(RESULTS)])


def read_once(stores: Sequence[Store]) -> Records:
    folders = {store.root.resolve() for store in stores if store.root.exists()}
    return committed() if folders == {RESULTS} else readable(stores)


@pytest.fixture(autouse=True, scope="module")
def results_are_read_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr("headway.forecast.ask.readable", read_once)
        yield
    committed.cache_clear()
