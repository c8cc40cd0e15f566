"""What can be wrong with roles and bindings."""

from __future__ import annotations

from kubewright.devcluster.builtin.checks import Errors, Json, named
from kubewright.devcluster.builtin.go_values import invalid_go, strings
from kubewright.devcluster.naming import dns_subdomain_errors
from kubewright.schema.errors import not_supported, required
from kubewright.schema.go_text import quoted

__all__ = ["cluster_role", "cluster_role_binding", "role", "role_binding"]

_GROUP = "rbac.authorization.k8s.io"


def role(obj: Json, _old: Json | None) -> Errors:
    for index, rule in enumerate(obj.get("rules") or ()):
        yield from _rule(rule, f"rules[{index}]", namespaced=True)


def cluster_role(obj: Json, _old: Json | None) -> Errors:
    for index, rule in enumerate(obj.get("rules") or ()):
        yield from _rule(rule, f"rules[{index}]", namespaced=False)


def _rule(rule: Json, at: str, *, namespaced: bool) -> Errors:
    if not rule.get("verbs"):
        yield required(f"{at}.verbs", "verbs must contain at least one value")
    urls = rule.get("nonResourceURLs")
    if urls:
        if namespaced:
            message = "namespaced rules cannot apply to non-resource URLs"
            yield invalid_go(f"{at}.nonResourceURLs", strings(urls), message)
        if any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
            message = "rules cannot apply to both regular resources and non-resource URLs"
            yield invalid_go(f"{at}.nonResourceURLs", strings(urls), message)
        return
    if not rule.get("apiGroups"):
        yield required(f"{at}.apiGroups", "resource rules must supply at least one api group")
    if not rule.get("resources"):
        yield required(f"{at}.resources", "resource rules must supply at least one resource")


def role_binding(obj: Json, old: Json | None) -> Errors:
    yield from _binding(obj, old, ("Role", "ClusterRole"))


def cluster_role_binding(obj: Json, old: Json | None) -> Errors:
    yield from _binding(obj, old, ("ClusterRole",))


def _binding(obj: Json, old: Json | None, kinds: tuple[str, ...]) -> Errors:
    reference = obj.get("roleRef") or {}
    if (group := reference.get("apiGroup", "")) != _GROUP:
        yield not_supported("roleRef.apiGroup", group, [_GROUP])
    if (kind := reference.get("kind", "")) not in kinds:
        yield not_supported("roleRef.kind", kind, kinds)
    if not reference.get("name"):
        yield required("roleRef.name")
    for index, subject in enumerate(obj.get("subjects") or ()):
        yield from _subject(subject, f"subjects[{index}]", namespaced="Role" in kinds)
    if old is not None and reference != old.get("roleRef"):
        shown = ", ".join(
            f"{go_name}:{quoted(reference.get(name, ''))}"
            for go_name, name in (("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name"))
        )
        yield invalid_go("roleRef", f"rbac.RoleRef{{{shown}}}", "cannot change roleRef")


def _subject(subject: Json, at: str, *, namespaced: bool) -> Errors:
    name, kind, group = subject.get("name", ""), subject.get("kind", ""), subject.get("apiGroup", "")
    if not name:
        yield required(f"{at}.name")
    if kind == "ServiceAccount":
        if name:
            yield from named(name, f"{at}.name", dns_subdomain_errors)
        if group:
            yield not_supported(f"{at}.apiGroup", group, [""])
        if not namespaced and not subject.get("namespace"):
            yield required(f"{at}.namespace")
    elif kind in {"User", "Group"}:
        if group != _GROUP:
            yield not_supported(f"{at}.apiGroup", group, [_GROUP])
    else:
        yield not_supported(f"{at}.kind", kind, ("ServiceAccount", "User", "Group"))
