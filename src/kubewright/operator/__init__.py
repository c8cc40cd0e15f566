"""`Operator` is the declaration, `Manager` runs it."""

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
