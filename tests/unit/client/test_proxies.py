"""Which servers are reached through which proxy."""

from __future__ import annotations

import pytest

from kubewright.client import ConfigError
from kubewright.client.proxies import Proxy, proxy_for

PROXY = {"HTTPS_PROXY": "http://p:3128"}


def test_the_environment_names_a_proxy_by_scheme() -> None:
    environ = {"HTTPS_PROXY": "https://s:1", "http_proxy": "h:2"}
    assert proxy_for("https://c", None, environ) == Proxy("https", "s", 1)
    assert proxy_for("http://c", None, environ) == Proxy("http", "h", 2)
    assert proxy_for("https://c", None, {}) is None


def test_a_configured_proxy_goes_before_the_environment_and_its_exceptions() -> None:
    environ = {**PROXY, "NO_PROXY": "*"}
    assert proxy_for("https://localhost", "http://[fd00::1]:8080", environ) == Proxy("http", "fd00::1", 8080)


def test_a_user_of_the_proxy_is_sent_and_never_shown() -> None:
    found = proxy_for("https://c", None, {"https_proxy": "http://me:p%40ss@p:3128"})
    assert found == Proxy("http", "p", 3128, ("me", "p@ss"))
    assert found.authorization == "Basic bWU6cEBzcw=="
    assert repr(found) == "Proxy(url='http://p:3128')"
    with pytest.raises(ConfigError) as caught:
        proxy_for("https://c", "ftp://me:hunter2@p", {}, source="the file")
    assert "hunter2" not in str(caught.value)
    assert str(caught.value).startswith("the file: proxy-url can't be used")


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://p", Proxy("http", "p", 80)),
        ("https://p", Proxy("https", "p", 443)),
        ("socks5://me:pw@p", Proxy("socks5", "p", 1080, ("me", "pw"))),
        ("socks5h://p:1", Proxy("socks5h", "p", 1)),
    ],
)
def test_every_scheme_has_its_port(url: str, found: Proxy) -> None:
    assert proxy_for("https://c", None, {"HTTPS_PROXY": url}) == found


@pytest.mark.parametrize("url", ["socks4://p:1", "ftp://p", "http://"])
def test_what_is_no_proxy_is_refused(url: str) -> None:
    with pytest.raises(
        ConfigError, match="HTTPS_PROXY in the environment can't be used: it should be an address such as"
    ):
        proxy_for("https://c", None, {"HTTPS_PROXY": url})


@pytest.mark.parametrize("server", ["https://localhost:1", "https://127.1.2.3", "https://[::1]:6443"])
def test_this_machine_is_never_reached_through_a_proxy(server: str) -> None:
    assert proxy_for(server, None, PROXY) is None


@pytest.mark.parametrize(
    ("exceptions", "server", "direct"),
    [
        ("*", "https://c", True),
        ("example.com", "https://example.com", True),
        ("example.com", "https://k8s.EXAMPLE.com", True),
        ("example.com", "https://notexample.com", False),
        (".example.com", "https://k8s.example.com", True),
        (".example.com", "https://example.com", False),
        ("*.example.com", "https://k8s.example.com", True),
        ("*.example.com", "https://example.com", False),
        ("example.com:6443", "https://example.com:6443", True),
        ("example.com:6443", "https://example.com", False),
        ("example.com:443", "https://example.com", True),
        (" a , example.com ,", "https://example.com", True),
        ("10.0.0.0/8", "https://10.1.2.3:6443", True),
        ("10.0.0.0/8", "https://11.1.2.3", False),
        ("10.0.0.0/8", "https://ten.example.com", False),
        ("10.0.0.0/99", "https://10.1.2.3", False),
        ("10.1.2.3", "https://10.1.2.3", True),
        ("10.1.2.3:6443", "https://10.1.2.3", False),
        ("10.1.2", "https://10.1.2.3", False),
        ("fd00::/8", "https://[fd12::1]:6443", True),
        ("fd12::1", "https://[fd12:0::1]", True),
        ("[fd12::1]:6443", "https://[fd12::1]:6443", True),
        ("[fd12::1]:6443", "https://[fd12::1]", False),
        (":443", "https://example.com", False),
    ],
)
def test_exceptions_are_read_as_go_reads_them(exceptions: str, server: str, direct: bool) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        assert (proxy_for(server, None, {**PROXY, name: exceptions}) is None) is direct
