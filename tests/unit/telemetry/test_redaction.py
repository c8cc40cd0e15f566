"""What messages and log lines show of objects and credentials."""

from __future__ import annotations

import io
import json

import pytest

from kubewright import ObjectMeta
from kubewright.kinds import core_v1
from kubewright.telemetry import new_log, shown, without_credentials
from kubewright.telemetry.logs import LogFormat

SECRET = core_v1.Secret(metadata=ObjectMeta(name="s", namespace="default"), data={"password": "canary-1"})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Authorization: Bearer abc.DEF-123_4", "Authorization: Bearer …"),
        ("Proxy-Authorization: Basic dXNlcjpjYW5hcnk0Mg==", "Proxy-Authorization: Basic …"),
        ("at https://me:canary@proxy:3128/x", "at https://…@proxy:3128/x"),
        ("token eyJhbGciOi.eyJpc3MiOi.c2lnbmF0", "token …"),
        ("Bearer authentication is wanted", "Bearer authentication is wanted"),
        ("https://host:6443/api?x=a@b", "https://host:6443/api?x=a@b"),
    ],
)
def test_credentials_are_cut_out_of_texts(text: str, told: str) -> None:
    assert without_credentials(text) == told


def test_objects_are_named_in_messages() -> None:
    assert shown(SECRET) == "Secret default/s"
    assert shown([SECRET, 3]) == "['Secret default/s', 3]"
    assert shown("text") == "'text'"


@pytest.mark.parametrize("format_", ["json", "console"])
def test_a_log_names_objects_and_cuts_credentials_out_of_tracebacks_too(format_: LogFormat) -> None:
    stream = io.StringIO()
    log = new_log(format_, stream=stream)
    log.bind(bound=SECRET).info("seen", one=SECRET, many={"of": [SECRET]}, raw=b"canary-2", url="http://a:canary@b")
    try:
        raise ValueError("401 for Bearer canary-3")  # noqa: TRY301 - a traceback is wanted
    except ValueError:
        log.exception("failed", error="Bearer canary-3")
    text = stream.getvalue()
    assert "canary" not in text
    assert text.count("Secret default/s") == 3
    assert "ValueError: 401 for Bearer …" in text
    if format_ == "json":
        first = json.loads(text.splitlines()[0])
        assert (first["many"], first["raw"]) == ({"of": ["Secret default/s"]}, "8 bytes")
