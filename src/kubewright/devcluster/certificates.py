"""`new_credentials`: a cluster's own certificate authority, its serving certificate and a token, freshly made.

Elliptic-curve keys, because making one takes a millisecond where an RSA key can take a second.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kubewright.devcluster.credentials import Credentials

__all__ = ["new_credentials"]

_LIFETIME = timedelta(days=365)
_NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
_ADDRESSES = ("127.0.0.1", "::1")


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
