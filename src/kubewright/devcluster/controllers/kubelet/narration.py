"""The events of a pod's life, in the kubelet's words."""

from __future__ import annotations

from kubewright.devcluster.controllers.kubelet.images import pull_error
from kubewright.devcluster.controllers.kubelet.life import Life, Note
from kubewright.devcluster.controllers.recorder import EventRecorder, EventType
from kubewright.kinds import core_v1

__all__ = ["Narrator"]


class Narrator:
    """Tells each note for each container of the pod."""

    def __init__(self, events: EventRecorder) -> None:
        self._events = events
        self._pulled: set[str] = set()
        self._said: dict[str, set[str]] = {}

    def is_new(self, pod: core_v1.Pod, message: str) -> bool:
        """Whether this was not yet said of the pod; it is then."""
        said = self._said.setdefault(pod.uid, set())
        if message in said:
            return False
        said.add(message)
        return True

    def forget(self, uid: str) -> None:
        self._said.pop(uid, None)

    async def tell(self, pod: core_v1.Pod, note: Note, _life: Life) -> None:
        inits = [] if note not in {Note.PULLING, Note.STARTED} else pod.spec.init_containers or []
        for field, containers in (("initContainers", inits), ("containers", pod.spec.containers)):
            for container in containers:
                path = f"spec.{field}{{{container.name}}}"
                for kind, reason, message in self._lines(pod, container, note):
                    await self._events.record(pod, kind, reason, message, field_path=path)

    def _lines(self, pod: core_v1.Pod, container: core_v1.Container, note: Note) -> list[tuple[EventType, str, str]]:
        image, name = container.image or "", container.name
        match note:
            case Note.PULLING:
                return [] if self._is_present(container) else [("Normal", "Pulling", f'Pulling image "{image}"')]
            case Note.STARTED | Note.RESTARTED:
                return [
                    ("Normal", "Pulled", self._pulled_line(container, again=note is Note.RESTARTED)),
                    ("Normal", "Created", f"Created container: {name}"),
                    ("Normal", "Started", f"Started container {name}"),
                ]
            case Note.PULL_FAILED:
                return [
                    ("Warning", "Failed", f'Failed to pull image "{image}": {pull_error(image)}'),
                    ("Warning", "Failed", "Error: ErrImagePull"),
                ]
            case Note.PULL_BACK_OFF:
                return [
                    ("Normal", "BackOff", f'Back-off pulling image "{image}"'),
                    ("Warning", "Failed", "Error: ImagePullBackOff"),
                ]
            case Note.CRASH_BACK_OFF:
                who = f"container {name} in pod {pod.name}_{pod.namespace}({pod.uid})"
                return [("Warning", "BackOff", f"Back-off restarting failed {who}")]
            case Note.KILLING:
                return [("Normal", "Killing", f"Stopping container {name}")]

    def _is_present(self, container: core_v1.Container) -> bool:
        return container.image_pull_policy != "Always" and container.image in self._pulled

    def _pulled_line(self, container: core_v1.Container, *, again: bool) -> str:
        image = container.image or ""
        if again or self._is_present(container):
            return f'Container image "{image}" already present on machine'
        self._pulled.add(image)
        return f'Successfully pulled image "{image}"'
