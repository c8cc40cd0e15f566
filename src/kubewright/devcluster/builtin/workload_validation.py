"""What can be wrong with the kinds that make pods, when created and when updated."""

from __future__ import annotations

import re
from typing import Any

from kubewright.devcluster.builtin.checks import (
    Errors,
    Json,
    immutable,
    matches_template,
    mismatch,
    non_negative,
    parsed_selector,
    percent_or_count,
    selector,
)
from kubewright.devcluster.builtin.go_values import int_or_string, invalid_go, label_selector
from kubewright.devcluster.builtin.pod_validation import pod_template
from kubewright.schema.errors import FieldError, forbidden, invalid, not_supported, required
from kubewright.schema.go_text import quoted

__all__ = [
    "controller_revision",
    "daemon_set",
    "deployment",
    "replica_set",
    "stateful_set",
]


def _selector_and_template(spec: Json, kind: str) -> Errors:
    """Deployments and ReplicaSets: selector present and not empty, matching the template, whose pods always restart."""
    chosen = spec.get("selector")
    if chosen is None:
        yield required("spec.selector")
    else:
        yield from selector(chosen, "spec.selector")
        if not chosen.get("matchLabels") and not chosen.get("matchExpressions"):
            message = f"empty selector is invalid for {kind}"
            yield invalid_go("spec.selector", label_selector(chosen), message)
    yield from _template(spec, empty_matches=chosen is not None)


def _template(spec: Json, *, empty_matches: bool) -> Errors:
    chosen = spec.get("selector") or {}
    empty = not chosen.get("matchLabels") and not chosen.get("matchExpressions")
    if not (empty and empty_matches):
        yield from matches_template(spec, "spec")
    yield from _lasting_pods(spec, "ReplicaSet")


def _lasting_pods(spec: Json, kind: str) -> Errors:
    """The template of pods that are not to end by themselves; ``kind`` is whose they are, as the message has it."""
    template = spec.get("template") or {}
    yield from pod_template(template, "spec.template")
    pods = template.get("spec") or {}
    if (policy := pods.get("restartPolicy", "Always")) != "Always":
        yield not_supported("spec.template.spec.restartPolicy", policy, ["Always"])
    if pods.get("activeDeadlineSeconds") is not None:
        message = f"activeDeadlineSeconds in {kind} is not Supported"
        yield forbidden("spec.template.spec.activeDeadlineSeconds", message)


def _same_selector(obj: Json, old: Json | None) -> Errors:
    if old is not None:
        after, before = obj["spec"].get("selector"), old["spec"].get("selector")
        yield from immutable(after, before, "spec.selector", shown=label_selector(after or {}))


def deployment(obj: Json, old: Json | None) -> Errors:
    spec = obj.get("spec") or {}
    yield from non_negative(spec, "spec", "replicas")
    yield from _selector_and_template(spec, "deployment")
    yield from _deployment_strategy(spec.get("strategy") or {}, "spec.strategy")
    yield from non_negative(spec, "spec", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and deadline <= spec.get("minReadySeconds", 0):
        yield invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")
    yield from _same_selector(obj, old)


def _deployment_strategy(strategy: Json, at: str) -> Errors:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            yield forbidden(f"{at}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
    elif kind == "RollingUpdate":
        yield from _rolling_update(rolling or {}, f"{at}.rollingUpdate")
    else:
        shown = f"apps.DeploymentStrategy{{Type:{quoted(kind)}, RollingUpdate:(*apps.RollingUpdateDeployment)(nil)}}"
        yield _unsupported_struct(at, shown, '"Recreate", "RollingUpdate"')


def _unsupported_struct(at: str, shown: str, supported: str) -> FieldError:
    return FieldError("FieldValueNotSupported", at, f"Unsupported value: {shown}: supported values: {supported}")


def _rolling_update(rolling: Json, at: str) -> Errors:
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    yield from percent_or_count(unavailable, f"{at}.maxUnavailable")
    yield from percent_or_count(surge, f"{at}.maxSurge")
    if _zero(unavailable) and _zero(surge):
        message = "may not be 0 when `maxSurge` is 0"
        yield invalid_go(f"{at}.maxUnavailable", int_or_string(unavailable), message)
    if isinstance(unavailable, str) and re.fullmatch(r"[0-9]+%", unavailable) and int(unavailable[:-1]) > 100:
        yield invalid_go(f"{at}.maxUnavailable", int_or_string(unavailable), "must not be greater than 100%")


def _zero(value: Any) -> bool:
    return value in (0, "0%")


def replica_set(obj: Json, old: Json | None) -> Errors:
    spec = obj.get("spec") or {}
    for _ in _rounds(old):
        yield from non_negative(spec, "spec", "replicas", "minReadySeconds")
        yield from _selector_and_template(spec, "deployment")
    yield from _same_selector(obj, old)


def _rounds(old: Json | None) -> range:
    """For some kinds the server checks the whole spec again as part of an update, so each error has two causes."""
    return range(1 if old is None else 2)


_STATEFUL_UPDATES = (
    "updates to statefulset spec for fields other than 'replicas', 'template', and 'updateStrategy' are forbidden"
)


def stateful_set(obj: Json, old: Json | None) -> Errors:
    spec = obj.get("spec") or {}
    policy = spec.get("podManagementPolicy", "")
    if not policy:
        yield required("spec.podManagementPolicy")
    elif policy not in {"OrderedReady", "Parallel"}:
        yield invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
    yield from _stateful_strategy(spec.get("updateStrategy") or {}, "spec.updateStrategy")
    yield from non_negative(spec, "spec", "replicas")
    chosen = spec.get("selector")
    if chosen is None:
        yield required("spec.selector")
    else:
        yield from selector(chosen, "spec.selector")
        if not chosen.get("matchLabels") and not chosen.get("matchExpressions"):
            yield invalid_go("spec.selector", label_selector(chosen), "empty selector is invalid for statefulset")
    yield from _stateful_template(spec)
    if old is not None and _unchangeable(spec) != _unchangeable(old["spec"]):
        yield forbidden("spec", _STATEFUL_UPDATES)


def _stateful_template(spec: Json) -> Errors:
    chosen = spec.get("selector")
    parsed = None if chosen is None else parsed_selector(chosen)
    if chosen is None or (parsed is not None and parsed.requirements):
        found = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
        if parsed is None or not parsed.matches(found):
            yield mismatch(spec, "spec")
    if chosen is None:
        return
    # The server checks the pods' spec only when pods are made: the volumes of the claim templates are not in it yet.
    pods = (spec.get("template") or {}).get("spec") or {}
    if (policy := pods.get("restartPolicy", "Always")) != "Always":
        yield not_supported("spec.template.spec.restartPolicy", policy, ["Always"])
    if pods.get("activeDeadlineSeconds") is not None:
        yield forbidden(
            "spec.template.spec.activeDeadlineSeconds", "activeDeadlineSeconds in StatefulSet is not Supported"
        )


def _stateful_strategy(strategy: Json, at: str) -> Errors:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if not kind:
        yield required(at)
    elif kind == "OnDelete":
        if rolling is not None:
            shown = f"apps.RollingUpdateStatefulSetStrategy{{Partition:{rolling.get('partition', 0)}}}"
            yield invalid_go(f"{at}.rollingUpdate", shown, "only allowed for updateStrategy 'RollingUpdate'")
    elif kind == "RollingUpdate":
        yield from non_negative(rolling or {}, f"{at}.rollingUpdate", "partition")
    else:
        nothing = "(*apps.RollingUpdateStatefulSetStrategy)(nil)"
        shown = f"apps.StatefulSetUpdateStrategy{{Type:{quoted(kind)}, RollingUpdate:{nothing}}}"
        yield invalid_go(at, shown, "must be 'RollingUpdate' or 'OnDelete'")


def _unchangeable(spec: Json) -> Json:
    free = {
        "minReadySeconds",
        "ordinals",
        "persistentVolumeClaimRetentionPolicy",
        "replicas",
        "template",
        "updateStrategy",
    }
    return {key: value for key, value in spec.items() if key not in free}


def daemon_set(obj: Json, old: Json | None) -> Errors:
    spec = obj.get("spec") or {}
    for _ in _rounds(old):
        yield from _daemon_set_spec(spec)
    yield from _same_selector(obj, old)


def _daemon_set_spec(spec: Json) -> Errors:
    chosen = spec.get("selector")
    yield from selector(chosen, "spec.selector")
    parsed = parsed_selector(chosen or {})
    found = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if chosen is None or (parsed is not None and not parsed.matches(found)):
        yield mismatch(spec, "spec")
    if chosen is not None and not chosen.get("matchLabels") and not chosen.get("matchExpressions"):
        yield invalid_go("spec.selector", label_selector(chosen), "empty selector is invalid for daemonset")
    yield from _lasting_pods(spec, "DaemonSet")
    yield from non_negative(spec, "spec", "minReadySeconds")
    yield from _daemon_strategy(spec.get("updateStrategy") or {}, "spec.updateStrategy")
    yield from non_negative(spec, "spec", "revisionHistoryLimit")


def _daemon_strategy(strategy: Json, at: str) -> Errors:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "RollingUpdate":
        where = f"{at}.rollingUpdate"
        if rolling is None:
            yield required(where)
            return
        unavailable = rolling.get("maxUnavailable", 1)
        yield from percent_or_count(unavailable, f"{where}.maxUnavailable")
        if _zero(unavailable) and _zero(rolling.get("maxSurge", 0)):
            yield invalid_go(f"{where}.maxUnavailable", int_or_string(unavailable), "cannot be 0")
    elif kind != "OnDelete":
        shown = (
            f"apps.DaemonSetUpdateStrategy{{Type:{quoted(kind)}, RollingUpdate:(*apps.RollingUpdateDaemonSet)(nil)}}"
        )
        yield _unsupported_struct(at, shown, '"RollingUpdate", "OnDelete"')


def controller_revision(obj: Json, old: Json | None) -> Errors:
    if obj.get("data") is None:
        yield required("data", "data is mandatory")
    if (revision := obj.get("revision", 0)) < 0:
        yield invalid("revision", revision, "must be greater than or equal to 0")
    if old is not None:
        yield from immutable(obj.get("data"), old.get("data"), "data", shown="runtime.Unknown{}")
