"""StatefulSets: pods with a name, an order and volumes of their own.

Start with `controller`; `rollout` decides (pure), `identity` makes pods and claims, `revisions` keeps what templates were.
See https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/
"""

__all__: list[str] = []
