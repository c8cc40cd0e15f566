"""The root package, whose names are loaded when first used."""

from __future__ import annotations

import kubewright


def test_each_name_is_listed_before_it_is_used_and_there_when_it_is() -> None:
    assert set(kubewright.__all__) <= set(dir(kubewright))
    assert all(hasattr(kubewright, name) for name in kubewright.__all__)
