"""The columns of the kinds that make pods."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kubewright.devcluster.ages import UNKNOWN, age, duration, moment
from kubewright.devcluster.builtin.printing import NONE, age_of, at, containers, labels, listed, selected

__all__ = [
    "CONTROLLER_REVISION",
    "CRON_JOB",
    "DAEMON_SET",
    "DEPLOYMENT",
    "JOB",
    "POD_TEMPLATE",
    "REPLICATION_CONTROLLER",
    "REPLICA_SET",
    "STATEFUL_SET",
]

Json = dict[str, Any]


def _count(obj: Json, *path: str) -> int:
    return at(obj, *path) or 0


def _template(obj: Json) -> list[str]:
    return containers(at(obj, "spec", "template"))


def _deployment(obj: Json, now: datetime) -> list[Any]:
    return [
        f"{_count(obj, 'status', 'readyReplicas')}/{_count(obj, 'spec', 'replicas')}",
        _count(obj, "status", "updatedReplicas"),
        _count(obj, "status", "availableReplicas"),
        age_of(obj, now),
        *_template(obj),
        selected(at(obj, "spec", "selector")),
    ]


def _stateful_set(obj: Json, now: datetime) -> list[Any]:
    ready = f"{_count(obj, 'status', 'readyReplicas')}/{_count(obj, 'spec', 'replicas')}"
    return [ready, age_of(obj, now), *_template(obj)]


def _replicas(obj: Json, now: datetime) -> list[Any]:
    return [
        _count(obj, "spec", "replicas"),
        _count(obj, "status", "replicas"),
        _count(obj, "status", "readyReplicas"),
        age_of(obj, now),
        *_template(obj),
    ]


def _daemon_set(obj: Json, now: datetime) -> list[Any]:
    counts = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    return [
        *(_count(obj, "status", name) for name in counts),
        labels(at(obj, "spec", "template", "spec", "nodeSelector")),
        age_of(obj, now),
        *_template(obj),
        selected(at(obj, "spec", "selector")),
    ]


def _controller_revision(obj: Json, now: datetime) -> list[Any]:
    owners = at(obj, "metadata", "ownerReferences") or ()
    owner = next((each for each in owners if each.get("controller")), None)
    shown = NONE
    if owner is not None:
        group = owner["apiVersion"].rpartition("/")[0]
        kind = f"{owner['kind']}.{group}" if group else owner["kind"]
        shown = f"{kind.lower()}/{owner['name']}"
    return [shown, obj.get("revision", 0), age_of(obj, now)]


def _job(obj: Json, now: datetime) -> list[Any]:
    wanted, parallel = at(obj, "spec", "completions"), _count(obj, "spec", "parallelism")
    succeeded = _count(obj, "status", "succeeded")
    if wanted is not None:
        completions = f"{succeeded}/{wanted}"
    else:
        completions = f"{succeeded}/1 of {parallel}" if parallel > 1 else f"{succeeded}/1"
    began, ended = (moment(at(obj, "status", name) or "") for name in ("startTime", "completionTime"))
    took = "" if began is None else duration((ended or now) - began)
    return [completions, took, age_of(obj, now), *_template(obj), selected(at(obj, "spec", "selector"))]


def _cron_job(obj: Json, now: datetime) -> list[Any]:
    last = age(at(obj, "status", "lastScheduleTime"), now)
    return [
        at(obj, "spec", "schedule") or "",
        str(bool(at(obj, "spec", "suspend"))),
        len(at(obj, "status", "active") or ()),
        NONE if last == UNKNOWN else last,
        age_of(obj, now),
        *containers(at(obj, "spec", "jobTemplate", "spec", "template")),
        selected(at(obj, "spec", "jobTemplate", "spec", "selector")),
    ]


_PODS = ("Containers", "Images")
_SELECTING = (*_PODS, "Selector")
_REPLICAS = ("Desired:integer", "Current:integer", "Ready:integer", "Age")

DEPLOYMENT = listed("Ready", "Up-to-date", "Available", "Age", wide=_SELECTING, cells=_deployment)
STATEFUL_SET = listed("Ready", "Age", wide=_PODS, cells=_stateful_set)
REPLICA_SET = listed(
    *_REPLICAS,
    wide=_SELECTING,
    cells=lambda obj, now: [*_replicas(obj, now), selected(at(obj, "spec", "selector"))],
)
REPLICATION_CONTROLLER = listed(
    *_REPLICAS,
    wide=_SELECTING,
    cells=lambda obj, now: [*_replicas(obj, now), labels(at(obj, "spec", "selector"))],
)
DAEMON_SET = listed(
    "Desired:integer",
    "Current:integer",
    "Ready:integer",
    "Up-to-date:integer",
    "Available:integer",
    "Node Selector",
    "Age",
    wide=_SELECTING,
    cells=_daemon_set,
)
CONTROLLER_REVISION = listed("Controller", "Revision", "Age", cells=_controller_revision)
POD_TEMPLATE = listed(
    "Containers",
    "Images",
    "Pod Labels",
    cells=lambda obj, _now: [*containers(obj.get("template")), labels(at(obj, "template", "metadata", "labels"))],
)
JOB = listed("Completions", "Duration", "Age", wide=_SELECTING, cells=_job)
CRON_JOB = listed(
    "Schedule", "Suspend:boolean", "Active:integer", "Last Schedule", "Age", wide=_SELECTING, cells=_cron_job
)
