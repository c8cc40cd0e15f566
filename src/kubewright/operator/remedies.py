"""The commands that give an operator what it lacks, for people to copy."""

from __future__ import annotations

import shlex
import zlib
from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from kubewright.operator.access import Need

__all__ = ["Missing", "grants", "installs"]


class Missing(Struct, frozen=True):
    """Verbs that we are not allowed: in one namespace, or everywhere."""

    need: Need
    namespace: str | None

    def __str__(self) -> str:
        where = "" if self.namespace is None else f" in namespace {self.namespace}"
        return f"{','.join(sorted(self.need.verbs))} of {_named(self.need)}{where}"


def grants(missing: Iterable[Missing], *, operator: str, identity: str | None) -> list[str]:
    """``kubectl create clusterrole …`` and the binding for each rule that lacks; of a namespace, ``role``.

    ``identity`` is the user's name as the server knows it, None where that is not known.
    """
    resources: dict[tuple[str | None, tuple[str, ...]], list[str]] = defaultdict(list)
    for one in missing:
        resources[one.namespace, tuple(sorted(one.need.verbs))].append(_named(one.need))
    commands = []
    for (namespace, verbs), named in resources.items():
        rule = f"{','.join(verbs)} {','.join(sorted(named))} {namespace} {identity}"
        name = f"{operator}-{zlib.crc32(rule.encode()):08x}"  # of what it grants: another rule is another role
        scope, where = ("clusterrole", []) if namespace is None else ("role", ["-n", namespace])
        commands.append(
            _command(
                "create", scope, name, *where, f"--verb={','.join(verbs)}", f"--resource={','.join(sorted(named))}"
            )
        )
        commands.append(_command("create", f"{scope}binding", name, *where, f"--{scope}={name}", _subject(identity)))
    return commands


def _named(need: Need) -> str:
    """As ``kubectl create role`` takes it."""
    group = f".{need.info.group}" if need.info.group else ""
    return f"{need.info.plural}{group}{'/' + need.subresource if need.subresource else ''}"


def _subject(identity: str | None) -> str:
    account = (identity or "").removeprefix("system:serviceaccount:")
    if identity is not None and account != identity:
        return f"--serviceaccount={account}"
    return f"--user={identity or 'USER'}"


def installs(target: str | None, namespace: str | None, watched: Iterable[str] | None) -> str:
    """What installs everything that an operator needs, and leaves the operator itself alone: its image, who set what of it.

    ``watched``: the namespaces it works in; None for everywhere.
    """
    words = [target or "TARGET", "--no-deployment"]
    if namespace is not None:
        words += ["--namespace", namespace]
    for each in watched or ():
        words += ["--watch-namespace", each]
    return f"kubewright manifests {shlex.join(words)} | kubectl apply -f -"


def _command(*words: str) -> str:
    return shlex.join(["kubectl", *words])
