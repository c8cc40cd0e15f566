"""What can be wrong with Jobs and CronJobs, when created and when updated."""

from __future__ import annotations

from kubewright.devcluster.builtin.checks import (
    Errors,
    Json,
    immutable,
    mismatch,
    non_negative,
    one_of,
    parsed_selector,
    selector,
)
from kubewright.devcluster.builtin.go_values import invalid_go, label_selector
from kubewright.devcluster.builtin.lifecycle import job_labels
from kubewright.devcluster.builtin.pod_validation import pod_template
from kubewright.schema.errors import invalid, not_supported, required

__all__ = ["cron_job", "job"]

_RESTARTS = 'valid values: "OnFailure", "Never"'


def _job_spec(spec: Json, at: str) -> Errors:
    yield from non_negative(
        spec, at, "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"
    )
    yield from pod_template(spec.get("template") or {}, f"{at}.template")
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy")
    if policy not in {"OnFailure", "Never"}:
        where = f"{at}.template.spec.restartPolicy"
        yield required(where, _RESTARTS) if policy == "Always" else not_supported(where, policy, ("OnFailure", "Never"))


def job(obj: Json, old: Json | None) -> Errors:
    spec = obj.get("spec") or {}
    metadata = obj.get("metadata") or {}
    generated = job_labels(metadata.get("name", ""), metadata.get("uid", ""))
    chosen = spec.get("selector")
    parsed = parsed_selector(chosen or {})
    if chosen is not None and not spec.get("manualSelector") and not (parsed and parsed.matches(generated)):
        yield invalid_go("spec.selector", label_selector(chosen), "`selector` not auto-generated")
    for _ in range(1 if old is None else 2):  # an update has its spec checked twice, so each error has two causes
        yield from _selecting_spec(spec)
    if old is not None:
        before = old["spec"]
        yield from immutable(spec.get("completions"), before.get("completions"), "spec.completions")
        yield from immutable(chosen, before.get("selector"), "spec.selector", shown=label_selector(chosen or {}))
        shown = "core.PodTemplateSpec{}"
        yield from immutable(spec.get("template"), before.get("template"), "spec.template", shown=shown)


def _selecting_spec(spec: Json) -> Errors:
    chosen = spec.get("selector")
    if chosen is None:
        yield required("spec.selector")
    else:
        yield from selector(chosen, "spec.selector")
    found = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    parsed = parsed_selector(chosen or {})
    if chosen is None or (parsed is not None and not parsed.matches(found)):
        yield mismatch(spec, "spec")
    yield from _job_spec(spec, "spec")


def cron_job(obj: Json, _old: Json | None) -> Errors:
    spec = obj.get("spec") or {}
    yield from _job_spec((spec.get("jobTemplate") or {}).get("spec") or {}, "spec.jobTemplate.spec")
    schedule = spec.get("schedule", "")
    if not schedule:
        yield required("spec.schedule")
    else:
        yield from _schedule(schedule)
    yield from non_negative(spec, "spec", "startingDeadlineSeconds")
    yield from one_of(spec, "concurrencyPolicy", "spec", ("Allow", "Forbid", "Replace"))
    yield from non_negative(spec, "spec", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")


_MACROS = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})


def _schedule(schedule: str) -> Errors:
    if schedule in _MACROS or schedule.startswith("@every "):
        return
    if schedule.startswith("@"):
        yield invalid("spec.schedule", schedule, f"Unrecognized descriptor: {schedule}")
    elif (count := len(schedule.split())) != 5:
        yield invalid("spec.schedule", schedule, f"Expected exactly 5 fields, found {count}: {schedule}")
