"""Who may read: requests that name this machine and carry the token, on loopback too, which all its users share.

A page from elsewhere can send a browser to any address, also to this machine under a name of its own making
(DNS rebinding); it cannot choose the Host header. Whoever asks by another name than ours is sent away.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import socket
from dataclasses import dataclass

LOOPBACK = "127.0.0.1"
HOST = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::[0-9]{1,5})?")


@dataclass(frozen=True)
class Guard:
    """`host` as it was given, or None for loopback alone; `token` is known to whoever started the server."""

    host: str | None
    token: str

    def knows(self, host_header: str | None) -> bool:
        """Whether the Host header names this machine."""
        name = _name(host_header or "")
        if name is None:
            return False
        address = _address(name)
        if self.host is None:
            return name == "localhost" or (address is not None and address.is_loopback)
        # An address cannot be rebound: only names can mean another machine than the one they meant before.
        return address is not None or name in {"localhost", self.host.lower(), socket.gethostname().lower()}

    def admits(self, *tokens: str | None) -> bool:
        """Whether one of these is the token, compared in a time that says nothing about it."""
        wanted = self.token.encode()
        return any(hmac.compare_digest(wanted, given.encode()) for given in tokens if given is not None)


def cookie_value(header: str | None, name: str) -> str | None:
    """The value of one cookie in a Cookie header."""
    for pair in (header or "").split(";"):
        key, separator, value = pair.strip().partition("=")
        if separator and key == name:
            return value
    return None


def _name(host_header: str) -> str | None:
    """ "localhost:8765" -> "localhost"; None where it is no host and port, as in [::1].evil."""
    found = HOST.fullmatch(host_header)
    return (found["address"] or found["name"]).lower().rstrip(".") if found else None


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
