"""What a page holds, read as its script reads it."""

import base64
import gzip
import json
import re


def element_text(page: str, name: str) -> str:
    """Of a script element, found as a browser finds it: up to the first end of a script."""
    found = re.search(rf'<script type="text/plain" id="{name}">(.*?)</script', page, re.DOTALL)
    assert found is not None
    return found[1]


def embedded_text(page: str) -> str:
    """The JSON of a page."""
    return gzip.decompress(base64.b64decode(element_text(page, "data"), validate=True)).decode()


def embedded(page: str) -> dict:
    """The same as values, with the figures in their places."""
    data, lines = json.loads(embedded_text(page)), element_text(page, "pictures").split("\n")
    for figure in (figure for group in data["figures"] for figure in group["figures"]):
        figure |= {name: lines[figure[name]] for name in ("data", "svg") if figure[name] is not None}
    return data
