"""The cluster's credentials: a certificate authority of its own, a serving certificate, and an administrator's token.

Elliptic-curve keys, because making one takes a millisecond where an RSA key can take a second.
"""

from __future__ import annotations

import secrets
import ssl
import tempfile
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kubewright.devcluster.private_files import write_private

__all__ = ["Credentials", "load_or_create", "new_credentials"]

_LIFETIME = timedelta(days=365)
_RENEW_BEFORE = timedelta(days=30)
_NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
_ADDRESSES = ("127.0.0.1", "::1")


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
        """When the serving certificate ends. Raises ValueError where it is not one that the authority signed."""
        certificate = x509.load_pem_x509_certificate(self.server)
        try:
            certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(self.ca))
        except (InvalidSignature, TypeError) as error:
            raise ValueError("the serving certificate is not signed by the authority beside it") from error
        return certificate.not_valid_after_utc


def new_credentials(now: datetime) -> Credentials:
    """Fresh keys and a fresh token, valid for a year; the authority's key is not kept."""
    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority = _certificate("kubewright-ca", authority_key, now=now, issuer=None, issuer_key=authority_key)
    key = ec.generate_private_key(ec.SECP256R1())
    server = _certificate("kube-apiserver", key, now=now, issuer=authority, issuer_key=authority_key)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return Credentials(
        ca=authority.public_bytes(serialization.Encoding.PEM),
        server=private + server.public_bytes(serialization.Encoding.PEM),
        token=secrets.token_urlsafe(32),
    )


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
            kept.server_context()
            return kept
    except (OSError, ValueError):  # absent, unreadable, or no certificate
        pass
    created = new_credentials(now)
    write_private(Path(directory, "ca.crt"), created.ca)
    write_private(Path(directory, "server.pem"), created.server)
    write_private(Path(directory, "token"), created.token.encode())
    return created


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    *,
    now: datetime,
    issuer: x509.Certificate | None,
    issuer_key: ec.EllipticCurvePrivateKey,
) -> x509.Certificate:
    """A certificate for serving if there is an issuer, else that of an authority."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    usage = {"digital_signature": True, "key_cert_sign": issuer is None, "crl_sign": issuer is None}
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))  # clocks differ
        .not_valid_after(now + _LIFETIME)
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
        .add_extension(
            x509.KeyUsage(
                **usage,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        )
    )
    if issuer:
        names = [*map(x509.DNSName, _NAMES), *(x509.IPAddress(ip_address(each)) for each in _ADDRESSES)]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False).add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False
        )
    return builder.sign(issuer_key, hashes.SHA256())
