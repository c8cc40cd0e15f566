"""What makes the embedded cluster alive, written with kubewright's own controllers: we are our own first user.

Start with `control_plane` (all of it), then `component` (how kubewright's parts are put together for it) and
`settings` (what can be chosen, and the annotations that make pods fail).
"""

from kubewright.devcluster.controllers.control_plane import ControlPlane
from kubewright.devcluster.controllers.settings import FAULT_ANNOTATION, READY_AFTER_ANNOTATION, Simulation

__all__ = ["FAULT_ANNOTATION", "READY_AFTER_ANNOTATION", "ControlPlane", "Simulation"]
