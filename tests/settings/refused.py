"""A setting that is refused, and the words that refuse it."""

from types import ModuleType
from typing import Any

import pytest


def refused(unchecked: ModuleType, record: str, arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(unchecked.SettingsError) as caught:
        getattr(unchecked, record)(**arguments)
    assert str(caught.value) == text


def whole(name: str, value: object, least: int) -> str:
    return f"{name} is {value!r}, but it must be a whole number of at least {least}."


def number(name: str, value: object, wanted: str) -> str:
    return f"{name} is {value!r}, but it must be a finite number {wanted}."
