"""Who may read and who may write: keys compared in constant time, and the hosts a request may name."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address

from mathamr.core.errors import MathAMRError
from mathamr.serve.errors import ApiError

SHORTEST_KEY = 16
_HOST = re.compile(r"(?P<name>[a-z0-9_](?:[a-z0-9._-]{0,251}[a-z0-9_])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?")
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a server: without `write` nobody can write, without `read` everybody can read.

    The key for writing also allows reading.
    """

    write: str = ""
    read: str = ""

    def __post_init__(self) -> None:
        for name, key in (("writing", self.write), ("reading", self.read)):
            if key and (len(key) < SHORTEST_KEY or not key.isascii() or not key.isprintable()):
                raise MathAMRError(
                    f"the key for {name} must have at least {SHORTEST_KEY} printable ASCII characters; make one with: "
                    "python -c 'import secrets; print(secrets.token_urlsafe())'"
                )

    def check_read(self, key: str) -> None:
        """Raise unless a request with this key may read."""
        if self.read and not (_same(key, self.read) | _same(key, self.write)):
            raise _refused("reading")

    def check_write(self, key: str) -> None:
        """Raise unless a request with this key may write."""
        if not self.write:
            raise ApiError("read_only", "this server was started without a key for writing (MATHAMR_API_KEY)")
        if not _same(key, self.write):
            raise _refused("writing")


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a server that listens on `host`."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def allowed_hosts(host: str, more: Iterable[str] = ()) -> frozenset[str] | None:
    """Return the names a `Host` header may have; None allows every name, as a server open to a network must.

    A page of another site can make a browser call a server on this machine under that site's name (DNS rebinding);
    a server on loopback therefore answers only to its own names.
    """
    names = frozenset(name.lower() for name in more)
    if not is_loopback(host):
        return names or None
    return names | {host.lower(), *LOOPBACK_NAMES}


def host_name(header: str) -> str:
    """Return the name in a `Host` header, without the port; empty if the header is not a name with an optional port.

    >>> host_name("LOCALHOST:8080"), host_name("[::1]:80"), host_name("a.org"), host_name("[::1]evil.org")
    ('localhost', '[::1]', 'a.org', '')
    """
    found = _HOST.fullmatch(header.lower())
    return found["name"] if found else ""


def _same(one: str, key: str) -> bool:
    return bool(key) and hmac.compare_digest(one.encode("utf-8", "replace"), key.encode())


def _refused(what: str) -> ApiError:
    return ApiError(
        "unauthorised",
        f"{what} needs the server's key, as X-API-Key or as Authorization: Bearer",
        headers={"WWW-Authenticate": 'Bearer realm="mathamr"'},
    )
