"""Deployments: replica sets come and go so that the pods follow the template.

Start with `controller`; `rollout` says how many pods each replica set should have (pure), `progress` what is told of it.
See https://kubernetes.io/docs/concepts/workloads/controllers/deployment/
"""

__all__: list[str] = []
