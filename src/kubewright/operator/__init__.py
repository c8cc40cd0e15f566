"""An operator as one declaration, and what runs it in a process.

Start with `Operator` (what there is to reconcile) and `Manager` (which does it); `Settings` is what can be chosen at the
start. `election` has the `LeaderElection`, and `first_contact` the `FirstContact`, that a manager may be given: they load
what few need, so they are not among the names here.
"""

from kubewright.operator.lifecycle import StartFailed
from kubewright.operator.manager import LeadershipLost, Manager
from kubewright.operator.namespaces import WATCH_NAMESPACE, watched_namespaces
from kubewright.operator.operator import Lifespan, Operator
from kubewright.operator.settings import Settings, SettingsError

__all__ = [
    "WATCH_NAMESPACE",
    "LeadershipLost",
    "Lifespan",
    "Manager",
    "Operator",
    "Settings",
    "SettingsError",
    "StartFailed",
    "watched_namespaces",
]
