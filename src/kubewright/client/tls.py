"""`TlsContexts`: certificates and keys as TLS contexts, made anew when one of their files changes."""

from __future__ import annotations

import os
import ssl
import tempfile
from contextlib import suppress
from pathlib import Path

from kubewright.client.credentials import ClusterConfig, ConfigError
from kubewright.client.exec_credentials import Credential
from kubewright.client.renewed_file import RenewedFile

__all__ = ["TlsContexts", "tls_context"]

_KEEP = 10.0
"""Seconds between looks at the files."""


class TlsContexts:
    """The context for new connections; those that are open go on with theirs.

    Raises `ConfigError`, when it is made, for certificates that can't be used. Files that can't be used later on, as
    while they are being replaced, leave the context that we have.
    """

    def __init__(self, config: ClusterConfig, *, now: float) -> None:
        self._config = config
        self._ca = _source(config.ca, config.ca_file, "certificate authority")
        self._certificate = _source(config.client_certificate, config.client_certificate_file, "client certificate")
        self._key = _source(config.client_key, config.client_key_file, "client key")
        self._files = [each for each in (self._ca, self._certificate, self._key) if isinstance(each, RenewedFile)]
        self._credential = Credential()
        self._context = self._made(self._credential, now)
        self.renewals = 0
        """How often the files brought another context."""
        self._check_at = now + _KEEP if self._files else float("inf")

    def context(self, credential: Credential, now: float) -> ssl.SSLContext:
        """``credential`` may bring a certificate of its own, which then goes before the configured one."""
        if credential is not self._credential:
            if credential.certificate is not self._credential.certificate:
                self._context = self._made(credential, now)
            self._credential = credential
        if now >= self._check_at:
            self.reread(now)
        return self._context

    def reread(self, now: float) -> None:
        """Looks at the files."""
        self._check_at = now + _KEEP
        changed = [file.reread() for file in self._files]
        if any(changed):
            with suppress(ConfigError):  # a certificate was replaced and its key is about to be
                self._context = self._made(self._credential, now)
                self.renewals += 1

    def _made(self, credential: Credential, now: float) -> ssl.SSLContext:
        certificate, key = credential.certificate, credential.key
        if certificate is None:
            certificate, key = _content(self._certificate, now), _content(self._key, now)
        return tls_context(self._config, ca=_content(self._ca, now), certificate=certificate, key=key)


def tls_context(
    config: ClusterConfig, *, ca: bytes | None, certificate: bytes | None, key: bytes | None
) -> ssl.SSLContext:
    """Raises `ConfigError` for certificates that can't be used.

    Whom to trust is decided as in Go's programs: any certificate that was given, also one that another has signed, and
    without what Python asks for beyond that since 3.13.
    """
    context = ssl.create_default_context()
    if config.insecure_skip_tls_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif ca is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            context.load_verify_locations(cadata=ca.decode("ascii", errors="ignore"))  # comments may hold anything
        except ssl.SSLError as error:
            raise ConfigError(f"{config.source}: the certificate authority can't be read: {error}") from error
    context.verify_flags = (context.verify_flags | ssl.VERIFY_X509_PARTIAL_CHAIN) & ~ssl.VERIFY_X509_STRICT
    if certificate is not None and key is not None:
        _load_identity(context, config, certificate, key)
    return context


def _source(content: bytes | None, file: Path | None, what: str) -> bytes | RenewedFile | None:
    return content if content is not None or file is None else RenewedFile(file, what, keep=_KEEP)


def _content(source: bytes | RenewedFile | None, now: float) -> bytes | None:
    return source.content(now) if isinstance(source, RenewedFile) else source


def _load_identity(context: ssl.SSLContext, config: ClusterConfig, certificate: bytes, key: bytes) -> None:
    """OpenSSL takes them from files only: they exist for this moment, readable by us alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "identity.pem")
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(certificate.rstrip() + b"\n" + key)
        try:
            context.load_cert_chain(path, password=_no_password)
        except (ssl.SSLError, ValueError) as error:
            who = config.identity
            raise ConfigError(f"{who}: client certificate and key can't be used: {error}") from error


def _no_password() -> str:
    raise ValueError("the key is encrypted; remove its password")
