"""From events to runs: sources, the work queue, workers and what a run may do.

Start with `ControllerSpec` (what a controller is) and `Controller` (one at work); `Context` is what a reconciler gets.
"""

from kubewright.controller.context import Context, NotDeclared
from kubewright.controller.controller import Controller
from kubewright.controller.outcome import Requeue, Result, TerminalError
from kubewright.controller.predicates import Predicate, any_change, default_predicate, edited
from kubewright.controller.backoff import Backoff
from kubewright.controller.queue import Priority, QueueClosed, QueueStatistics, WorkQueue
from kubewright.controller.request import Request
from kubewright.controller.spec import ControllerSpec, FinalizerSpec, Reconciler
from kubewright.controller.watches import Mapper, Watch, owned_by, owner_label

__all__ = [
    "Backoff",
    "Context",
    "Controller",
    "ControllerSpec",
    "FinalizerSpec",
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
    "TerminalError",
    "Watch",
    "WorkQueue",
    "any_change",
    "default_predicate",
    "edited",
    "owned_by",
    "owner_label",
]
