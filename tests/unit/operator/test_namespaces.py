from __future__ import annotations

import pytest

from kubewright import Operator
from kubewright.operator import watched_namespaces


def test_the_environment_names_namespaces_separated_by_commas() -> None:
    assert watched_namespaces({"WATCH_NAMESPACE": "b, a,b,"}) == ("a", "b")
    assert watched_namespaces({"WATCH_NAMESPACE": ""}) is None
    assert watched_namespaces({}) is None


def test_what_is_no_namespace_is_refused_where_it_was_said() -> None:
    with pytest.raises(ValueError, match="a namespace of WATCH_NAMESPACE is 'No_Name'"):
        watched_namespaces({"WATCH_NAMESPACE": "No_Name"})
    with pytest.raises(TypeError, match=r"namespaces is 'team': give a list, such as \[\"team\"\]"):
        Operator("things", namespaces="team")
    with pytest.raises(ValueError, match="namespaces names no namespace: leave it out for all of them"):
        Operator("things", namespaces=[])
