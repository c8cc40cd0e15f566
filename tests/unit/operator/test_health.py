"""Health is answered as API servers answer it."""

from __future__ import annotations

import pytest

from kubewright.operator.health import Check, HealthAnswer, answer
from kubewright.operator.http_server import Address

WELL = Check("ping", lambda: None)
ILL = Check("caches", lambda: "pods: forbidden")


def test_well_is_one_word_unless_more_is_asked_for() -> None:
    assert answer("healthz", [WELL]) == HealthAnswer(200, "ok")
    assert answer("healthz", [WELL], verbose=True) == HealthAnswer(200, "[+]ping ok\nhealthz check passed\n")


def test_what_is_not_well_is_told_with_its_reason_among_what_is() -> None:
    text = "[+]ping ok\n[-]caches failed: pods: forbidden\nreadyz check failed\n"
    assert answer("readyz", [WELL, ILL]) == HealthAnswer(500, text)


def test_checks_can_be_left_out_and_unknown_ones_are_named() -> None:
    assert answer("readyz", [WELL, ILL], exclude=["caches"]).status == 200
    found = answer("readyz", [WELL, ILL], exclude=["caches", "cashes"], verbose=True)
    assert found.status == 200
    assert found.text.splitlines() == [
        "[+]ping ok",
        "[+]caches excluded: ok",
        "warn: some health checks cannot be excluded: no matches for 'cashes'",
        "readyz check passed",
    ]


def test_each_check_has_a_path_of_its_own() -> None:
    assert answer("readyz", [WELL, ILL], only="ping") == HealthAnswer(200, "ok")
    assert answer("readyz", [WELL, ILL], only="caches") == HealthAnswer(500, "caches failed: pods: forbidden\n")
    assert answer("readyz", [WELL, ILL], only="nope").status == 404


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        (":8081", None, 8081),
        ("127.0.0.1:0", "127.0.0.1", 0),
        ("[::1]:80", "::1", 80),
        ("localhost:65535", "localhost", 65535),
    ],
)
def test_addresses(text: str, host: str | None, port: int) -> None:
    assert Address.parse(text) == Address(host, port)


@pytest.mark.parametrize("text", ["", "8081", "localhost", "localhost:http", ":65536", ":-1"])
def test_what_is_no_address_is_refused_with_its_form(text: str) -> None:
    with pytest.raises(ValueError, match="is no address: use HOST:PORT"):
        Address.parse(text)
