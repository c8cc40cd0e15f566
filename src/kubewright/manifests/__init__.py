"""From an `Operator` to what a cluster needs to run it: CRDs, RBAC and a Deployment. Start with `manifests`."""

from kubewright.manifests.deployment import deployment
from kubewright.manifests.manifests import manifests
from kubewright.manifests.rbac import cluster_role, policy_rules
from kubewright.manifests.yaml_text import to_yaml

__all__ = ["cluster_role", "deployment", "manifests", "policy_rules", "to_yaml"]
