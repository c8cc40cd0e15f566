"""`Operator` is the declaration, `Manager` runs it."""

from kubewright.operator.manager import STOP_WITHIN, Manager
from kubewright.operator.operator import Operator

__all__ = ["STOP_WITHIN", "Manager", "Operator"]
