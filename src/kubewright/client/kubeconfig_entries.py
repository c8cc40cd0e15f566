"""A kubeconfig's cluster and user as a `ClusterConfig`: checked, with files found beside the kubeconfig that names them."""

from __future__ import annotations

import base64
import binascii
import os
from pathlib import Path
from typing import Literal, cast, get_args
from urllib.parse import quote, urlsplit

from kubewright.client.credentials import BasicAuth, ClusterConfig, ConfigError, ExecPlugin, InteractiveMode, is_token
from kubewright.client.kubeconfig_file import ExecEntry, KubeconfigError, NamedCluster, NamedUser, User, read_file
from kubewright.client.proxies import parse_proxy

__all__ = ["cluster_config"]

_EXEC_EXTENSION = "client.authentication.k8s.io/exec"
_EXEC_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_WITHOUT_LINES = str.maketrans("", "", "\r\n")
_KEY_SAFE = "!#$&'*+-.^_`|~"
"""What a header's name may hold beside letters and digits; the rest of an extra's key is percent-encoded."""


def cluster_config(cluster: NamedCluster, user: NamedUser | None, namespace: str | None) -> ClusterConfig:
    """Raises `KubeconfigError` that names file, entry and field."""
    here = f"{cluster.origin}: clusters[{cluster.name}].cluster"
    address = cluster.cluster
    _check_server(address.server, f"{here}.server")
    if address.proxy_url:
        try:
            parse_proxy(address.proxy_url, f"{here}.proxy-url")
        except ConfigError as error:
            raise KubeconfigError(str(error)) from error
    ca, ca_file = _pem(
        cluster.origin,
        f"{here}.certificate-authority",
        address.certificate_authority,
        address.certificate_authority_data,
    )
    if address.insecure_skip_tls_verify and (ca or ca_file):
        raise KubeconfigError(
            f"{here}: certificate-authority and insecure-skip-tls-verify contradict each other; remove the latter"
        )
    identity = (user.user if user else None) or User()
    origin, who = (user.origin, f"{user.origin}: users[{user.name}].user") if user else (Path(), "")
    _check_user(identity, who)
    certificate, certificate_file = _pem(
        origin, f"{who}.client-certificate", identity.client_certificate, identity.client_certificate_data
    )
    key, key_file = _pem(origin, f"{who}.client-key", identity.client_key, identity.client_key_data)
    has_certificate, has_key = certificate or certificate_file, key or key_file
    if bool(has_certificate) is not bool(has_key):
        missing = "client-certificate" if has_key else "client-key"
        raise KubeconfigError(f"{who}.{missing} is missing: a client certificate and its key go together")
    return ClusterConfig(
        server=address.server.rstrip("/"),
        ca=ca,
        ca_file=ca_file,
        insecure_skip_tls_verify=address.insecure_skip_tls_verify,
        tls_server_name=address.tls_server_name or None,
        proxy_url=address.proxy_url or None,
        disable_compression=address.disable_compression,
        client_certificate=certificate,
        client_certificate_file=certificate_file,
        client_key=key,
        client_key_file=key_file,
        token=identity.token or None,
        token_file=origin.parent / identity.token_file if identity.token_file else None,
        basic=BasicAuth(identity.username, identity.password or "") if identity.username else None,
        exec=_plugin(identity.exec, origin, f"{who}.exec", cluster) if identity.exec else None,
        impersonate=_impersonation(identity, who),
        namespace=namespace or None,
        user=user.name if user else None,
        source=str(user.origin if user else cluster.origin),
    )


def _check_server(server: str, where: str) -> None:
    example = "it should be an address such as https://10.0.0.1:6443"
    try:
        parts = urlsplit(server)
        usable = parts.scheme in {"https", "http"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError as error:
        raise KubeconfigError(f"{where} is {server!r} ({error}): {example}") from error
    if not usable:
        raise KubeconfigError(f"{where} is {server!r}: {example}")
    if parts.username is not None:
        raise KubeconfigError(f"{where} has a user name in it: credentials belong under users")


def _check_user(user: User, who: str) -> None:
    if user.auth_provider is not None:
        name = f" {user.auth_provider.name!r}" if user.auth_provider.name else ""
        raise KubeconfigError(
            f"{who}.auth-provider{name}: auth providers are gone from Kubernetes since 1.26; use an exec plugin "
            "instead, such as gke-gcloud-auth-plugin, kubelogin or kubectl oidc-login"
        )
    if user.token and not is_token(user.token):
        raise KubeconfigError(f"{who}.token has blanks, line breaks or strange characters in it: a token has none")
    given = {"token": user.token or user.token_file, "username": user.username}
    several = [name for name, value in given.items() if value]
    if len(several) > 1:
        raise KubeconfigError(f"{who}: {' and '.join(several)} can't both be used to authenticate; keep one")
    if not user.as_ and (user.as_uid or user.as_groups or user.as_user_extra):
        raise KubeconfigError(f"{who}.as is missing: as-uid, as-groups and as-user-extra need the user to act as")


def _pem(origin: Path, where: str, file: str | None, data: str | None) -> tuple[bytes | None, Path | None]:
    """The content of inline data, which goes before a file, or the file's path."""
    path = None
    if data:
        try:
            content = base64.b64decode(data.translate(_WITHOUT_LINES), validate=True)  # which may be broken anywhere
        except binascii.Error as error:
            raise KubeconfigError(f"{where}-data is not base64: {error}") from error
        where = f"{where}-data"
    elif file:
        path = origin.parent / file
        content = read_file(path, where)
        where = f"{where} ({path})"
    else:
        return None, None
    if b"-----BEGIN" not in content:
        raise KubeconfigError(f"{where} holds no PEM")
    return (None, path) if path else (content, None)


def _plugin(entry: ExecEntry, origin: Path, where: str, cluster: NamedCluster) -> ExecPlugin:
    if not entry.command:
        raise KubeconfigError(f"{where}.command is missing: which program gives the credentials?")
    if entry.api_version not in _EXEC_VERSIONS:
        what = f"is {entry.api_version!r}" if entry.api_version else "is missing"
        raise KubeconfigError(f"{where}.apiVersion {what}: it must be one of {', '.join(_EXEC_VERSIONS)}")
    mode = entry.interactive_mode
    if not mode:
        if entry.api_version == _EXEC_VERSIONS[0]:
            raise KubeconfigError(f"{where}.interactiveMode is missing: {entry.api_version} needs Never or IfAvailable")
        mode = "IfAvailable"
    if mode not in get_args(InteractiveMode):
        raise KubeconfigError(f"{where}.interactiveMode is {mode!r}: use {', '.join(get_args(InteractiveMode))}")
    for index, variable in enumerate(entry.env or []):
        if not variable.name:
            raise KubeconfigError(f"{where}.env[{index}].name is missing")
    command = entry.command
    if os.sep in command and not os.path.isabs(command):
        command = os.path.abspath(origin.parent / command)
    extensions = cluster.cluster.extensions or []
    return ExecPlugin(
        api_version=cast("Literal['client.authentication.k8s.io/v1']", entry.api_version),
        command=command,
        args=tuple(entry.args or ()),
        env=tuple((variable.name, variable.value) for variable in entry.env or []),
        install_hint=entry.install_hint,
        interactive_mode=cast("InteractiveMode", mode),
        provide_cluster_info=entry.provide_cluster_info,
        cluster_extension=next((each.extension for each in extensions if each.name == _EXEC_EXTENSION), None),
    )


def _impersonation(user: User, who: str) -> dict[str, tuple[str, ...]]:
    headers: dict[str, tuple[str, ...]] = {}
    if user.as_:
        headers["impersonate-user"] = (user.as_,)
    if user.as_uid:
        headers["impersonate-uid"] = (user.as_uid,)
    if user.as_groups:
        headers["impersonate-group"] = tuple(user.as_groups)
    for key, values in (user.as_user_extra or {}).items():
        headers[f"impersonate-extra-{quote(key.lower(), safe=_KEY_SAFE)}"] = tuple(values)
    if not all(value.isprintable() for values in headers.values() for value in values):
        raise KubeconfigError(f"{who}: as, as-uid, as-groups or as-user-extra has line breaks in it: names have none")
    return headers
