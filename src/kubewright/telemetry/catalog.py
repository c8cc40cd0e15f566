"""The metrics there are. Names, labels and buckets are those of controller-runtime and client-go where these have the
same thing, so that existing dashboards and alerts work; what they lack begins with ``kubewright_``.

https://book.kubebuilder.io/reference/metrics-reference
"""

from __future__ import annotations

from kubewright.telemetry.metrics import Metric

__all__ = [
    "ACTIVE_WORKERS",
    "CACHE_BYTES",
    "CACHE_IN_STEP",
    "CACHE_OBJECTS",
    "CACHE_RECONNECTS",
    "CACHE_RELISTS",
    "CACHE_SILENCE",
    "CACHE_UNREADABLE",
    "CONFLICTS",
    "FINALIZER_FAILURES",
    "MASTER_STATUS",
    "MAX_CONCURRENT_RECONCILES",
    "QUEUE_ADDS",
    "QUEUE_DELAYED",
    "QUEUE_DEPTH",
    "QUEUE_FAILING",
    "QUEUE_LONGEST",
    "QUEUE_RETRIES",
    "QUEUE_UNFINISHED",
    "QUEUE_WAIT",
    "QUEUE_WORK",
    "RECONCILE_ERRORS",
    "RECONCILE_PANICS",
    "RECONCILE_TERMINAL_ERRORS",
    "RECONCILE_TIME",
    "RECONCILE_TIMEOUTS",
    "RECONCILE_TOTAL",
    "REQUESTS",
    "REQUEST_SECONDS",
    "REQUEST_SIZE",
    "RESPONSE_SIZE",
    "SELF_TRIGGERED",
    "STEP_SECONDS",
]

_CONTROLLER = ("controller",)
_QUEUE = ("name", "controller")
_DECADES = tuple(10.0**exponent for exponent in range(-8, 4))
_SIZES = tuple(float(size) for size in (64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216))

# runs

RECONCILE_TOTAL = Metric(
    name="controller_runtime_reconcile_total",
    kind="counter",
    help="Runs, by how they ended: success, error, requeue (as soon as the back-off allows) or requeue_after.",
    labels=("controller", "result"),
)
RECONCILE_ERRORS = Metric(
    name="controller_runtime_reconcile_errors_total", kind="counter", help="Runs that failed.", labels=_CONTROLLER
)
RECONCILE_TERMINAL_ERRORS = Metric(
    name="controller_runtime_terminal_reconcile_errors_total",
    kind="counter",
    help="Runs that failed with a TerminalError, so that they are not tried again.",
    labels=_CONTROLLER,
)
RECONCILE_PANICS = Metric(
    name="controller_runtime_reconcile_panics_total",
    kind="counter",
    help="Runs that failed with what is no Exception, such as SystemExit.",
    labels=_CONTROLLER,
)
RECONCILE_TIMEOUTS = Metric(
    name="controller_runtime_reconcile_timeouts_total",
    kind="counter",
    help="Runs that were ended because their time was up.",
    labels=_CONTROLLER,
)
RECONCILE_TIME = Metric(
    name="controller_runtime_reconcile_time_seconds",
    kind="histogram",
    help="Seconds that runs take, all their steps together.",
    labels=_CONTROLLER,
    buckets=(
        *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
        *(1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60),
    ),
)
MAX_CONCURRENT_RECONCILES = Metric(
    name="controller_runtime_max_concurrent_reconciles",
    kind="gauge",
    help="How many objects are reconciled at a time at most.",
    labels=_CONTROLLER,
)
ACTIVE_WORKERS = Metric(
    name="controller_runtime_active_workers", kind="gauge", help="Workers that are at a run.", labels=_CONTROLLER
)
STEP_SECONDS = Metric(
    name="kubewright_reconcile_step_seconds",
    kind="histogram",
    help="Seconds that a run's steps take: fetch, sync (the reconciler itself), status, cleanup (pruning), requeue.",
    labels=("controller", "step"),
    buckets=(0.0001, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0),
)
CONFLICTS = Metric(
    name="kubewright_reconcile_conflicts_total",
    kind="counter",
    help="Runs that failed because another change was quicker.",
    labels=_CONTROLLER,
)
FINALIZER_FAILURES = Metric(
    name="kubewright_finalizer_failures_total",
    kind="counter",
    help="Clean-ups that failed.",
    labels=("controller", "finalizer"),
)
SELF_TRIGGERED = Metric(
    name="kubewright_self_triggered_total",
    kind="counter",
    help="Storms: objects whose runs wake each other by what they write.",
    labels=_CONTROLLER,
)

# the work queue

QUEUE_DEPTH = Metric(
    name="workqueue_depth",
    kind="gauge",
    help="Requests that wait for a worker, by band: edit, normal, background.",
    labels=(*_QUEUE, "priority"),
)
QUEUE_ADDS = Metric(name="workqueue_adds_total", kind="counter", help="Requests that were made ready.", labels=_QUEUE)
QUEUE_RETRIES = Metric(
    name="workqueue_retries_total", kind="counter", help="Requests that were tried again.", labels=_QUEUE
)
QUEUE_WAIT = Metric(
    name="workqueue_queue_duration_seconds",
    kind="histogram",
    help="Seconds that requests wait for a worker.",
    labels=_QUEUE,
    buckets=_DECADES,
)
QUEUE_WORK = Metric(
    name="workqueue_work_duration_seconds",
    kind="histogram",
    help="Seconds that workers are at a request.",
    labels=_QUEUE,
    buckets=_DECADES,
)
QUEUE_UNFINISHED = Metric(
    name="workqueue_unfinished_work_seconds",
    kind="gauge",
    help="Seconds that the requests which workers are at have taken so far, together.",
    labels=_QUEUE,
)
QUEUE_LONGEST = Metric(
    name="workqueue_longest_running_processor_seconds",
    kind="gauge",
    help="Seconds that the longest of these has taken so far.",
    labels=_QUEUE,
)
QUEUE_DELAYED = Metric(
    name="kubewright_workqueue_delayed",
    kind="gauge",
    help="Requests that wait for their time: after failures, or because they asked for it.",
    labels=_QUEUE,
)
QUEUE_FAILING = Metric(
    name="kubewright_workqueue_failing",
    kind="gauge",
    help="Objects whose last run failed, or asked for another at once.",
    labels=_QUEUE,
)

# the cache

_RESOURCE = ("resource",)
CACHE_OBJECTS = Metric(
    name="kubewright_cache_objects", kind="gauge", help="Objects held in the cache.", labels=_RESOURCE
)
CACHE_BYTES = Metric(
    name="kubewright_cache_bytes", kind="gauge", help="JSON held in the cache, in bytes.", labels=_RESOURCE
)
CACHE_IN_STEP = Metric(
    name="kubewright_cache_in_step",
    kind="gauge",
    help="Whether what is cached can be relied on (1), or is old or not there yet (0).",
    labels=_RESOURCE,
)
CACHE_SILENCE = Metric(
    name="kubewright_cache_last_event_age_seconds",
    kind="gauge",
    help="Seconds since the server last said anything.",
    labels=_RESOURCE,
)
CACHE_RELISTS = Metric(
    name="kubewright_cache_relists_total",
    kind="counter",
    help="How often everything was read anew, the first time aside.",
    labels=_RESOURCE,
)
CACHE_RECONNECTS = Metric(
    name="kubewright_cache_watch_reconnects_total",
    kind="counter",
    help="How often a watch was opened anew, the first time aside.",
    labels=_RESOURCE,
)
CACHE_UNREADABLE = Metric(
    name="kubewright_cache_unreadable_objects",
    kind="gauge",
    help="Objects that are left out because their metadata can't be read.",
    labels=_RESOURCE,
)

# the client

REQUESTS = Metric(
    name="rest_client_requests_total",
    kind="counter",
    help="Requests to the API server, by the status it answered with; <error> where there was no answer.",
    labels=("code", "method", "host"),
)
REQUEST_SECONDS = Metric(
    name="rest_client_request_duration_seconds",
    kind="histogram",
    help="Seconds until a request is answered; of a watch, until its first byte may come.",
    labels=("verb", "host"),
    buckets=(0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0),
)
REQUEST_SIZE = Metric(
    name="rest_client_request_size_bytes",
    kind="histogram",
    help="Bytes of requests' bodies.",
    labels=("verb", "host"),
    buckets=_SIZES,
)
RESPONSE_SIZE = Metric(
    name="rest_client_response_size_bytes",
    kind="histogram",
    help="Bytes of answers' bodies, watches and other streams aside.",
    labels=("verb", "host"),
    buckets=_SIZES,
)

# leader election

MASTER_STATUS = Metric(
    name="leader_election_master_status",
    kind="gauge",
    help="Whether this process leads (1) or not (0), by the name of the lease.",
    labels=("name",),
)
