"""The columns of the kinds that are neither workloads nor network nor storage."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kubewright.devcluster.ages import UNKNOWN, age
from kubewright.devcluster.builtin.printing import NONE, ColumnDefinition, Columns, age_of, at, listed, name_of

__all__ = [
    "API_SERVICE",
    "AUTOSCALER",
    "BINDING",
    "CONFIG_MAP",
    "EVENT",
    "LEASE",
    "NAMESPACE",
    "NEW_EVENT",
    "NODE",
    "PRIORITY_CLASS",
    "RESOURCE_QUOTA",
    "RUNTIME_CLASS",
    "SECRET",
    "SERVICE_ACCOUNT",
    "WEBHOOKS",
]

Json = dict[str, Any]


def _config_map(obj: Json, now: datetime) -> list[Any]:
    return [len(obj.get("data") or ()) + len(obj.get("binaryData") or ()), age_of(obj, now)]


_ROLE = "node-role.kubernetes.io/"


def _roles(obj: Json) -> str:
    found = set()
    for key, value in (at(obj, "metadata", "labels") or {}).items():
        if key.startswith(_ROLE) and len(key) > len(_ROLE):
            found.add(key.removeprefix(_ROLE))
        elif key == "kubernetes.io/role" and value:
            found.add(value)
    return ",".join(sorted(found)) or NONE


def _node(obj: Json, now: datetime) -> list[Any]:
    conditions = at(obj, "status", "conditions") or ()
    ready = next((each for each in conditions if each.get("type") == "Ready"), None)
    words = ["Unknown" if ready is None else "Ready" if ready.get("status") == "True" else "NotReady"]
    if at(obj, "spec", "unschedulable"):
        words.append("SchedulingDisabled")
    addresses = at(obj, "status", "addresses") or ()
    found = {each.get("type"): each.get("address") for each in reversed(addresses)}
    info = at(obj, "status", "nodeInfo") or {}
    return [
        ",".join(words),
        _roles(obj),
        age_of(obj, now),
        info.get("kubeletVersion", ""),
        found.get("InternalIP") or NONE,
        found.get("ExternalIP") or NONE,
        info.get("osImage") or UNKNOWN,
        info.get("kernelVersion") or UNKNOWN,
        info.get("containerRuntimeVersion") or UNKNOWN,
    ]


def _event_cells(obj: Json, now: datetime, names: dict[str, str]) -> list[Any]:
    """Both kinds of events are printed alike; ``names`` are the fields' names in the one at hand."""
    first = age(obj.get(names["first"]) or obj.get("eventTime"), now)
    last = age(obj.get(names["last"]), now) if obj.get(names["last"]) else first
    count = obj.get(names["count"]) or 1
    if series := obj.get("series"):
        last = age(series.get("lastObservedTime"), now)
        count = series.get("count", 0) + 1
    regarded = obj.get(names["object"]) or {}
    kind, name = regarded.get("kind", "").lower(), regarded.get("name")
    source = obj.get(names["source"]) or {}
    component = source.get("component") or obj.get(names["component"]) or ""
    instance = source.get("host") or obj.get("reportingInstance") or ""
    return [
        last,
        obj.get("type", ""),
        obj.get("reason", ""),
        f"{kind}/{name}" if name else kind,
        regarded.get("fieldPath", ""),
        f"{component}, {instance}" if instance else component,
        obj.get(names["message"], "").strip(),
        first,
        count,
        name_of(obj),
    ]


_CORE_NAMES = {
    "component": "reportingComponent",
    "count": "count",
    "first": "firstTimestamp",
    "last": "lastTimestamp",
    "message": "message",
    "object": "involvedObject",
    "source": "source",
}
_NEW_NAMES = {
    "component": "reportingController",
    "count": "deprecatedCount",
    "first": "deprecatedFirstTimestamp",
    "last": "deprecatedLastTimestamp",
    "message": "note",
    "object": "regarding",
    "source": "deprecatedSource",
}


def _event_columns(names: dict[str, str]) -> Columns:
    shown = (("Last Seen", 0), ("Type", 0), ("Reason", 0), ("Object", 0), ("Subobject", 1), ("Source", 1))
    more = (("Message", 0), ("First Seen", 1), ("Count", 1))
    columns = [ColumnDefinition(name, priority=priority) for name, priority in shown + more]
    columns.append(ColumnDefinition("Name", format="name", priority=1))
    return Columns(tuple(columns), lambda obj, now: _event_cells(obj, now, names))


def _binding(obj: Json, now: datetime) -> list[Any]:
    subjects = obj.get("subjects") or ()
    by_kind = {
        kind: [each for each in subjects if each.get("kind") == kind] for kind in ("User", "Group", "ServiceAccount")
    }
    reference = obj.get("roleRef") or {}
    return [
        f"{reference.get('kind', '')}/{reference.get('name', '')}",
        age_of(obj, now),
        ", ".join(each["name"] for each in by_kind["User"]),
        ", ".join(each["name"] for each in by_kind["Group"]),
        ", ".join(f"{each.get('namespace', '')}/{each['name']}" for each in by_kind["ServiceAccount"]),
    ]


def _quota(obj: Json, now: datetime) -> list[Any]:
    hard, used = (at(obj, "status", name) or {} for name in ("hard", "used"))
    shown: dict[bool, list[str]] = {False: [], True: []}
    for name in sorted(hard):
        shown[name.startswith("limits")].append(f"{name}: {used.get(name, '0')}/{hard[name]}")
    return [age_of(obj, now), ", ".join(shown[False]), ", ".join(shown[True])]


def _api_service(obj: Json, now: datetime) -> list[Any]:
    service = at(obj, "spec", "service")
    conditions = at(obj, "status", "conditions") or ()
    available = next((each for each in conditions if each.get("type") == "Available"), None)
    word = "Unknown"
    if available is not None:
        word = available.get("status", "")
        if word != "True":
            word = f"{word} ({available.get('reason', '')})"
    return [f"{service.get('namespace', '')}/{service.get('name', '')}" if service else "Local", word, age_of(obj, now)]


def _autoscaler(obj: Json, now: datetime) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    target = spec.get("scaleTargetRef") or {}
    wanted, found = spec.get("targetCPUUtilizationPercentage"), status.get("currentCPUUtilizationPercentage")
    if wanted is None:
        wanted, found = _utilization(spec, status)
    shown = NONE if wanted is None else f"{UNKNOWN if found is None else f'{found}%'}/{wanted}%"
    fewest = spec.get("minReplicas")
    return [
        f"{target.get('kind', '')}/{target.get('name', '')}",
        shown,
        "<unset>" if fewest is None else str(fewest),
        spec.get("maxReplicas", 0),
        status.get("currentReplicas", 0),
        age_of(obj, now),
    ]


def _utilization(spec: Json, status: Json) -> tuple[int | None, int | None]:
    """The first resource metric's wanted and current utilization."""
    wanted = next((at(each, "resource", "target", "averageUtilization") for each in spec.get("metrics") or ()), None)
    metrics = status.get("currentMetrics") or ()
    return wanted, next((at(each, "resource", "current", "averageUtilization") for each in metrics), None)


CONFIG_MAP = listed("Data", "Age", cells=_config_map)
SECRET = listed(
    "Type",
    "Data",
    "Age",
    cells=lambda obj, now: [obj.get("type", ""), len(obj.get("data") or ()), age_of(obj, now)],
)
SERVICE_ACCOUNT = listed("Secrets", "Age", cells=lambda obj, now: [len(obj.get("secrets") or ()), age_of(obj, now)])
NAMESPACE = listed("Status", "Age", cells=lambda obj, now: [at(obj, "status", "phase") or "", age_of(obj, now)])
NODE = listed(
    "Status",
    "Roles",
    "Age",
    "Version",
    wide=("Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"),
    cells=_node,
)
EVENT = _event_columns(_CORE_NAMES)
NEW_EVENT = _event_columns(_NEW_NAMES)
LEASE = listed("Holder", "Age", cells=lambda obj, now: [at(obj, "spec", "holderIdentity") or "", age_of(obj, now)])
BINDING = listed("Role", "Age", wide=("Users", "Groups", "ServiceAccounts"), cells=_binding)
RESOURCE_QUOTA = listed("Age", "Request", "Limit", cells=_quota)
WEBHOOKS = listed("Webhooks:integer", "Age", cells=lambda obj, now: [len(obj.get("webhooks") or ()), age_of(obj, now)])
API_SERVICE = listed("Service", "Available", "Age", cells=_api_service)
AUTOSCALER = listed("Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age", cells=_autoscaler)
PRIORITY_CLASS = listed(
    "Value:integer",
    "Global-Default:boolean",
    "Age",
    cells=lambda obj, now: [obj.get("value", 0), bool(obj.get("globalDefault")), age_of(obj, now)],
)
RUNTIME_CLASS = listed("Handler", "Age", cells=lambda obj, now: [obj.get("handler", ""), age_of(obj, now)])
