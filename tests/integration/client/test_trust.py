"""Whom the certificate of a server must be from."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from kubewright.client import HttpRequest, TransportError
from tests.integration.client.conftest import Connect, Identity, Server, identity


@pytest.fixture
def chain(server: Server, tmp_path: Path) -> list[Identity]:
    """A root, an authority that it signed, and the server's own, which that one signed; the server shows the latter only."""
    root = identity("root")
    middle = identity("middle", issuer=root)
    leaf = identity("kubernetes", issuer=middle)
    pem = tmp_path / "leaf.pem"
    pem.write_bytes(leaf.certificate + leaf.key)
    server.tls.load_cert_chain(pem)
    return [root, middle, leaf]


@pytest.mark.parametrize("given", [1, 2], ids=["an authority below the root", "the server's own"])
async def test_each_given_certificate_is_trusted_by_itself(
    server: Server, connect: Connect, chain: list[Identity], given: int
) -> None:
    transport = connect(replace(server.config, ca=chain[given].certificate))
    assert (await transport.request(HttpRequest("GET", "/"))).status == 200


async def test_an_authority_that_cannot_be_followed_to_the_server_is_none(
    server: Server, connect: Connect, chain: list[Identity]
) -> None:
    transport = connect(replace(server.config, ca=chain[0].certificate))
    with pytest.raises(TransportError, match="certificate verify failed"):
        await transport.request(HttpRequest("GET", "/"))


async def test_comments_beside_certificates_may_hold_anything(server: Server, connect: Connect) -> None:
    commented = "# AC RAÍZ FNMT-RCM\n".encode() + server.identity.certificate
    transport = connect(replace(server.config, ca=commented))
    assert (await transport.request(HttpRequest("GET", "/"))).status == 200
