"""From events to runs: sources, the work queue, workers and what a run may do.

Start with `ControllerSpec` (what a controller is) and `Controller` (one at work); `Context` is what a reconciler gets.
What wakes a controller is in `watches`, `sources` and `predicates`.
"""

from kubewright.controller.backoff import Backoff
from kubewright.controller.blocking import BlockingContext
from kubewright.controller.context import Context
from kubewright.controller.controller import Controller
from kubewright.controller.environment import NotDeclared
from kubewright.controller.error_status import ErrorStatus, says_nothing
from kubewright.controller.outcome import Requeue, Result, TerminalError
from kubewright.controller.pausing import PAUSED
from kubewright.controller.predicates import (
    Predicate,
    annotations_changed,
    any_change,
    appeared,
    changed,
    default_predicate,
    deletion,
    edited,
    finalizers_changed,
    generation_changed,
    labels_changed,
    predicate,
    resource_version_changed,
    selected,
)
from kubewright.controller.queue import Priority, QueueClosed, QueueStatistics, WorkQueue
from kubewright.controller.request import Request
from kubewright.controller.sources import Channel, Source, SourceContext, Wake, cron, every
from kubewright.controller.spec import ControllerSpec, FinalizerSpec, Reconciler
from kubewright.controller.threads import RunEnded
from kubewright.controller.watchdog import LoopWatchdog
from kubewright.controller.watches import Mapper, Watch, Whole, any_owner, owner, owner_label

__all__ = [
    "PAUSED",
    "Backoff",
    "BlockingContext",
    "Channel",
    "Context",
    "Controller",
    "ControllerSpec",
    "ErrorStatus",
    "FinalizerSpec",
    "LoopWatchdog",
    "Mapper",
    "NotDeclared",
    "Predicate",
    "Priority",
    "QueueClosed",
    "QueueStatistics",
    "Reconciler",
    "Request",
    "Requeue",
    "Result",
    "RunEnded",
    "Source",
    "SourceContext",
    "TerminalError",
    "Wake",
    "Watch",
    "Whole",
    "WorkQueue",
    "annotations_changed",
    "any_change",
    "any_owner",
    "appeared",
    "changed",
    "cron",
    "default_predicate",
    "deletion",
    "edited",
    "every",
    "finalizers_changed",
    "generation_changed",
    "labels_changed",
    "owner",
    "owner_label",
    "predicate",
    "resource_version_changed",
    "says_nothing",
    "selected",
]
