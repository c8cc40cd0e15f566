"""Which proxy leads to a server: a kubeconfig's ``proxy-url``, or the environment as Go's programs read it.

https://pkg.go.dev/golang.org/x/net/http/httpproxy#Config
"""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from kubewright.client.credentials import ConfigError

__all__ = ["Proxy", "parse_proxy", "proxy_for"]

_PORTS = {"http": 80, "https": 443}
_PROXY_PORTS = {**_PORTS, "socks5": 1080, "socks5h": 1080}


class Proxy(Struct, frozen=True):
    """A proxy, and the name and password that it wants to know."""

    scheme: str
    host: str
    port: int
    user: tuple[str, str] | None = None

    @property
    def url(self) -> str:
        """Without the user."""
        return f"{self.scheme}://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def authorization(self) -> str | None:
        """The header ``Proxy-Authorization`` of an HTTP proxy."""
        return None if self.user is None else f"Basic {base64.b64encode(':'.join(self.user).encode()).decode()}"

    def __repr__(self) -> str:
        return f"Proxy(url={self.url!r})"


def proxy_for(server: str, proxy_url: str | None, environ: Mapping[str, str], *, source: str = "") -> Proxy | None:
    """The proxy to reach ``server`` through; None: directly. Raises `ConfigError` for one that can't be used.

    What is configured goes before the environment, and ``NO_PROXY`` is about the environment only. A server on this
    machine (``localhost``, loopback addresses) is never reached through the environment's proxy.
    """
    if proxy_url:
        return parse_proxy(proxy_url, f"{source}: proxy-url" if source else "proxy-url")
    parts = urlsplit(server)
    names = ("HTTPS_PROXY", "https_proxy") if parts.scheme == "https" else ("HTTP_PROXY", "http_proxy")
    name = next((each for each in names if environ.get(each)), None)
    if name is None:
        return None
    host = (parts.hostname or "").lower().rstrip(".")
    exceptions = environ.get("NO_PROXY") or environ.get("no_proxy") or ""
    if _is_direct(host, parts.port or _PORTS[parts.scheme], exceptions):
        return None
    url = environ[name]
    return parse_proxy(url if "://" in url else f"http://{url}", f"{name} in the environment")


def parse_proxy(url: str, where: str) -> Proxy:
    """Raises `ConfigError`; the message does not repeat the URL, which may hold a password."""
    example = "it should be an address such as http://proxy.example.com:3128"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"{where} can't be used ({error}): {example}") from None
    if parts.scheme not in _PROXY_PORTS or not host:
        raise ConfigError(f"{where} can't be used: {example}, or socks5://proxy.example.com:1080")
    user = None
    if parts.username is not None:
        user = (unquote(parts.username), unquote(parts.password or ""))
    return Proxy(parts.scheme, host, port or _PROXY_PORTS[parts.scheme], user)


def _is_direct(host: str, port: int, exceptions: str) -> bool:
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    return any(_matches(host, address, port, each.strip().lower()) for each in exceptions.split(",") if each.strip())


def _matches(host: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address | None, port: int, entry: str) -> bool:
    """One entry of NO_PROXY: ``*``, a network, an address or a domain, the latter two possibly with a port."""
    if entry == "*":
        return True
    if "/" in entry:
        try:
            network = ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
        return address is not None and address in network
    name, wanted = _split_port(entry)
    if not name or (wanted and wanted != str(port)):
        return False
    exact = _address(name)
    if exact is not None:
        return exact == address
    if name.startswith("*."):
        name = name[1:]
    return host.endswith(name) if name.startswith(".") else host == name or host.endswith(f".{name}")


def _split_port(entry: str) -> tuple[str, str]:
    if entry.startswith("["):
        name, _, rest = entry[1:].partition("]")
        return name, rest.removeprefix(":")
    if entry.count(":") == 1:
        name, _, port = entry.partition(":")
        return name, port
    return entry, ""


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, ipaddress.IPv6Address) else found
