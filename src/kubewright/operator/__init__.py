"""`Operator` is the declaration, `Manager` runs it."""

from kubewright.operator.manager import STOP_WITHIN, Manager
from kubewright.operator.namespaces import WATCH_NAMESPACE, watched_namespaces
from kubewright.operator.operator import Lifespan, Operator

__all__ = ["STOP_WITHIN", "WATCH_NAMESPACE", "Lifespan", "Manager", "Operator", "watched_namespaces"]
