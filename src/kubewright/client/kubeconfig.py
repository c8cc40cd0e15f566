"""Where the cluster is and who we are: kubeconfig files and a pod's service account.

https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from kubewright.client.credentials import ClusterConfig, ConfigError
from kubewright.client.kubeconfig_entries import cluster_config
from kubewright.client.kubeconfig_file import (
    KubeconfigError,
    NamedCluster,
    NamedContext,
    NamedUser,
    parse_kubeconfig,
    read_file,
)

__all__ = ["KubeconfigError", "in_cluster", "load", "load_kubeconfig"]

N = TypeVar("N", NamedCluster, NamedUser, NamedContext)

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def load(
    path: str | Path | None = None, *, context: str | None = None, environ: Mapping[str, str] | None = None
) -> ClusterConfig:
    """The cluster to talk to: the given file, else ``KUBECONFIG``, else the pod we run in, else ``~/.kube/config``.

    Raises `KubeconfigError`, also when there is none of these, and what `in_cluster` raises.
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
        pod = "this is no pod" if context is None else f"a pod has no context {context!r}"
        raise KubeconfigError(
            f"no cluster configured: {home} does not exist, KUBECONFIG is not set, and {pod}; "
            "name a file, or set KUBECONFIG"
        )
    return load_kubeconfig([home], context=context)


def in_cluster(*, environ: Mapping[str, str] | None = None, service_account: Path = _SERVICE_ACCOUNT) -> ClusterConfig:
    """The API server of the cluster that this pod runs in, as the pod's service account. Raises `ConfigError`."""
    env = os.environ if environ is None else environ
    host, port = env.get("KUBERNETES_SERVICE_HOST"), env.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise ConfigError("this process runs in no cluster: KUBERNETES_SERVICE_HOST is not set")
    token = service_account / "token"
    if not token.exists():
        raise ConfigError(f"{token} does not exist: is automountServiceAccountToken off for this pod?")
    authority = service_account / "ca.crt"
    read_file(authority, str(service_account))
    namespace = service_account / "namespace"
    return ClusterConfig(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        ca_file=authority,
        token_file=token,
        namespace=namespace.read_text().strip() if namespace.exists() else None,
        source=str(service_account),
    )


def load_kubeconfig(paths: list[Path], *, context: str | None = None, skip_missing: bool = False) -> ClusterConfig:
    """Reads kubeconfig files merged as kubectl does: the first to name a thing wins. Raises `KubeconfigError`."""
    files = [(path, parse_kubeconfig(path)) for path in paths if not (skip_missing and not path.exists())]
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
    return cluster_config(cluster, user, chosen.context.namespace)


def _find(what: str, name: str, where: str, files: list[tuple[Path, list[N]]]) -> N:
    known: list[str] = []
    for path, entries in files:
        found = [entry for entry in entries if entry.name == name]
        if len(found) > 1:
            raise KubeconfigError(
                f"{path}: there are {len(found)} {what}s named {name!r}; rename or remove all but one"
            )
        if found:
            found[0].origin = path
            return found[0]
        known.extend(entry.name for entry in entries)
    there = ", ".join(sorted(set(known))) or "none"
    raise KubeconfigError(f"{where}: there is no {what} {name!r}; there is: {there}")
