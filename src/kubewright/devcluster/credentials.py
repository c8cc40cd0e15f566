"""`Credentials`: the cluster's certificate authority, its serving certificate and an administrator's token, and where
they are kept.
"""

from __future__ import annotations

import ssl
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kubewright.devcluster.private_files import write_private

__all__ = ["Credentials", "load_or_create"]

_RENEW_BEFORE = timedelta(days=30)
_ANY_TIME = ssl.VerifyFlags(0x200000)
"""X509_V_FLAG_NO_CHECK_TIME, for which Python has no name."""


@dataclass(frozen=True)
class Credentials:
    """What proves the server to its clients (``ca``, ``server``: PEM, key and certificate in one) and they to it."""

    ca: bytes
    server: bytes
    token: str

    def server_context(self) -> ssl.SSLContext:
        """TLS 1.2 or newer with the serving certificate; HTTP/1.1 only."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        with tempfile.TemporaryDirectory() as directory:  # OpenSSL reads keys from files only
            path = Path(directory, "server.pem")
            write_private(path, self.server)
            context.load_cert_chain(path)
        return context

    def expires(self) -> datetime:
        """When the serving certificate ends. Raises ValueError where clients that trust the authority refuse it."""
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        client.verify_flags |= _ANY_TIME
        client.load_verify_locations(cadata=self.ca.decode())
        up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
        reader = client.wrap_bio(down, up, server_hostname="127.0.0.1")
        for side in (reader, self.server_context().wrap_bio(up, down, server_side=True), reader):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                pass  # it is the other side's turn
            except ssl.SSLError as error:
                raise ValueError(f"the serving certificate is not one that the authority signed: {error}") from error
        certificate = reader.getpeercert() or {}
        return datetime.fromtimestamp(ssl.cert_time_to_seconds(str(certificate["notAfter"])), UTC)


def load_or_create(directory: Path, now: datetime) -> Credentials:
    """The credentials kept in a directory, made anew where there are none, broken ones, or ones that end soon.

    A restarted cluster keeps them, so clients that read the kubeconfig before go on working.
    """
    try:
        kept = Credentials(
            ca=Path(directory, "ca.crt").read_bytes(),
            server=Path(directory, "server.pem").read_bytes(),
            token=Path(directory, "token").read_text(encoding="utf-8"),
        )
        if kept.token and kept.expires() - now > _RENEW_BEFORE:
            return kept
    except (OSError, ValueError):  # absent, unreadable, or no certificate
        pass
    from kubewright.devcluster.certificates import new_credentials  # noqa: PLC0415 - 40 ms that a restart should not pay

    created = new_credentials(now)
    write_private(Path(directory, "ca.crt"), created.ca)
    write_private(Path(directory, "server.pem"), created.server)
    write_private(Path(directory, "token"), created.token.encode())
    return created
