"""Where the cluster is and who we are: kubeconfig files and a pod's service account.

https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec
import yaml
from msgspec import Struct, field

from kubewright.client.credentials import BasicAuth, ClusterConfig, ConfigError

__all__ = ["KubeconfigError", "in_cluster", "load", "load_kubeconfig"]

N = TypeVar("N", "_NamedCluster", "_NamedUser", "_NamedContext")

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class KubeconfigError(ConfigError):
    """A kubeconfig that can't be used."""


class _Cluster(Struct, rename="kebab"):
    server: str = ""
    certificate_authority: str | None = None
    certificate_authority_data: str | None = None
    insecure_skip_tls_verify: bool = False
    tls_server_name: str | None = None
    proxy_url: str | None = None


class _User(Struct, rename="kebab"):
    client_certificate: str | None = None
    client_certificate_data: str | None = None
    client_key: str | None = None
    client_key_data: str | None = None
    token: str | None = None
    token_file: str | None = field(default=None, name="tokenFile")
    username: str | None = None
    password: str | None = None
    as_: str | None = field(default=None, name="as")
    as_uid: str | None = None
    as_groups: list[str] | None = None
    as_user_extra: dict[str, list[str]] | None = None
    exec: dict[str, object] | None = None
    auth_provider: dict[str, object] | None = None


class _Context(Struct):
    cluster: str = ""
    user: str = ""
    namespace: str | None = None


class _NamedCluster(Struct):
    name: str
    cluster: _Cluster
    origin: Path = Path()


class _NamedUser(Struct):
    name: str
    user: _User | None = None
    origin: Path = Path()


class _NamedContext(Struct):
    name: str
    context: _Context
    origin: Path = Path()


class _File(Struct, rename="kebab"):
    current_context: str | None = None
    clusters: list[_NamedCluster] | None = None
    users: list[_NamedUser] | None = None
    contexts: list[_NamedContext] | None = None


def load(
    path: str | Path | None = None, *, context: str | None = None, environ: Mapping[str, str] | None = None
) -> ClusterConfig:
    """The cluster to talk to: the given file, else ``KUBECONFIG``, else the pod we run in, else ``~/.kube/config``.

    Raises `KubeconfigError`, also when there is none of these.
    """
    env = os.environ if environ is None else environ
    if path is not None:
        return load_kubeconfig([Path(path)], context=context)
    if env.get("KUBECONFIG"):
        listed = [Path(part) for part in env["KUBECONFIG"].split(os.pathsep) if part]
        return load_kubeconfig(listed, context=context, skip_missing=len(listed) > 1)
    if context is None and env.get("KUBERNETES_SERVICE_HOST") and (_SERVICE_ACCOUNT / "token").exists():
        return in_cluster(environ=env)
    home = Path(env.get("HOME") or Path.home()) / ".kube" / "config"
    if not home.exists():
        raise KubeconfigError(
            f"no cluster configured: {home} does not exist, KUBECONFIG is not set, and this is no pod; "
            "name a file, or set KUBECONFIG"
        )
    return load_kubeconfig([home], context=context)


def in_cluster(*, environ: Mapping[str, str] | None = None, service_account: Path = _SERVICE_ACCOUNT) -> ClusterConfig:
    """The API server of the cluster that this pod runs in, as the pod's service account."""
    env = os.environ if environ is None else environ
    host, port = env.get("KUBERNETES_SERVICE_HOST"), env.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise ConfigError("this process runs in no cluster: KUBERNETES_SERVICE_HOST is not set")
    token = service_account / "token"
    if not token.exists():
        raise ConfigError(f"{token} does not exist: is automountServiceAccountToken off for this pod?")
    namespace = service_account / "namespace"
    return ClusterConfig(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        ca=_read(service_account / "ca.crt", str(service_account)),
        token_file=token,
        namespace=namespace.read_text().strip() if namespace.exists() else None,
        source=str(service_account),
    )


def load_kubeconfig(paths: list[Path], *, context: str | None = None, skip_missing: bool = False) -> ClusterConfig:
    """Reads kubeconfig files merged as kubectl does: the first to name a thing wins. Raises `KubeconfigError`."""
    files = [(path, _parse(path)) for path in paths if not (skip_missing and not path.exists())]
    where = os.pathsep.join(map(str, paths))
    if not files:
        raise KubeconfigError(f"{where}: none of these files exists; set KUBECONFIG to one that does")
    name = context or next((file.current_context for _, file in files if file.current_context), None)
    if not name:
        raise KubeconfigError(f"{where}: current-context is not set; name a context, or run kubectl config use-context")
    chosen = _find("context", name, where, [(path, file.contexts or []) for path, file in files])
    here = f"{chosen.origin}: contexts[{name}].context"
    if not chosen.context.cluster:
        raise KubeconfigError(f"{here}.cluster is missing")
    cluster = _find("cluster", chosen.context.cluster, here, [(path, file.clusters or []) for path, file in files])
    user = None
    if chosen.context.user:
        user = _find("user", chosen.context.user, here, [(path, file.users or []) for path, file in files])
    return _config(cluster, user, chosen.context.namespace)


def _parse(path: Path) -> _File:
    data = _read(path, None)
    try:
        document = yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    except yaml.YAMLError as error:
        raise KubeconfigError(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    if document is None:
        return _File()
    try:
        return msgspec.convert(document, _File)
    except msgspec.ValidationError as error:
        raise KubeconfigError(f"{path} is not a kubeconfig: {error}") from error


def _read(path: Path, needed_by: str | None) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        what = f"{needed_by}: {path}" if needed_by else str(path)
        raise KubeconfigError(f"{what}: {(error.strerror or str(error)).lower()}") from error


def _find(what: str, name: str, where: str, files: list[tuple[Path, list[N]]]) -> N:
    known = []
    for path, entries in files:
        for entry in entries:
            if entry.name == name:
                entry.origin = path
                return entry
            known.append(entry.name)
    there = ", ".join(sorted(set(known))) or "none"
    raise KubeconfigError(f"{where}: there is no {what} {name!r}; there is: {there}")


def _config(cluster: _NamedCluster, user: _NamedUser | None, namespace: str | None) -> ClusterConfig:
    here = f"{cluster.origin}: clusters[{cluster.name}].cluster"
    address = cluster.cluster
    _check_server(address.server, f"{here}.server")
    if address.proxy_url:
        raise KubeconfigError(f"{here}.proxy-url: proxies are not supported")
    identity = (user.user if user else None) or _User()
    origin, who = (user.origin, f"{user.origin}: users[{user.name}].user") if user else (Path(), "")
    for field_name, plugin in (("exec", identity.exec), ("auth-provider", identity.auth_provider)):
        if plugin is not None:
            raise KubeconfigError(
                f"{who}.{field_name}: credential plugins are not supported; use a token or a client certificate"
            )
    certificate = _pem(
        origin, f"{who}.client-certificate", identity.client_certificate, identity.client_certificate_data
    )
    key = _pem(origin, f"{who}.client-key", identity.client_key, identity.client_key_data)
    if (certificate is None) is not (key is None):
        missing = "client-key" if key is None else "client-certificate"
        raise KubeconfigError(f"{who}.{missing} is missing: a client certificate and its key go together")
    if identity.token is not None and any(character.isspace() for character in identity.token):
        raise KubeconfigError(f"{who}.token has blanks or line breaks in it: a token has none")
    basic = BasicAuth(identity.username, identity.password or "") if identity.username else None
    return ClusterConfig(
        server=address.server.rstrip("/"),
        ca=_pem(
            cluster.origin,
            f"{here}.certificate-authority",
            address.certificate_authority,
            address.certificate_authority_data,
        ),
        insecure_skip_tls_verify=address.insecure_skip_tls_verify,
        tls_server_name=address.tls_server_name,
        client_certificate=certificate,
        client_key=key,
        token=identity.token,
        token_file=_beside(origin, identity.token_file) if identity.token_file else None,
        basic=basic,
        impersonate=_impersonation(identity),
        namespace=namespace,
        source=str(cluster.origin),
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


def _pem(origin: Path, where: str, file: str | None, data: str | None) -> bytes | None:
    """Inline data goes before a file; file names are relative to the kubeconfig that has them."""
    if data:
        try:
            content = base64.b64decode(data, validate=True)
        except binascii.Error as error:
            raise KubeconfigError(f"{where}-data is not base64: {error}") from error
    elif file:
        content = _read(_beside(origin, file), where)
        where = f"{where} ({_beside(origin, file)})"
    else:
        return None
    if b"-----BEGIN" not in content:
        raise KubeconfigError(f"{where}{'-data' if data else ''} holds no PEM")
    return content


def _beside(origin: Path, file: str) -> Path:
    return origin.parent / file


def _impersonation(user: _User) -> dict[str, tuple[str, ...]]:
    headers: dict[str, tuple[str, ...]] = {}
    if user.as_:
        headers["impersonate-user"] = (user.as_,)
    if user.as_uid:
        headers["impersonate-uid"] = (user.as_uid,)
    if user.as_groups:
        headers["impersonate-group"] = tuple(user.as_groups)
    for key, values in (user.as_user_extra or {}).items():
        headers[f"impersonate-extra-{key.lower()}"] = tuple(values)
    return headers
