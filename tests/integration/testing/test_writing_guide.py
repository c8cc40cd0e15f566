"""docs/writing.md: its operator, loaded as it stands there, and at work."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from kubewright import ObjectMeta
from kubewright.kinds import core_v1, rbac_v1
from kubewright.testing import OpenHarness, containing

GUIDE = Path(__file__).parents[3] / "docs/writing.md"
FILE = re.compile(r"^```python\n# tenants\.py\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def guide(tmp_path: Path) -> Iterator[ModuleType]:
    """Its module, in ``sys.modules`` while it is used, where annotations are looked up."""
    (text,) = FILE.findall(GUIDE.read_text())
    file = tmp_path / "tenants.py"
    file.write_text(text)
    spec = spec_from_file_location("tenants_of_the_guide", file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


async def test_the_guides_operator_does_what_it_says(guide: ModuleType, harness: OpenHarness) -> None:
    tenant = guide.Tenant(
        metadata=ObjectMeta(name="acme"), spec=guide.TenantSpec(members=[guide.Member(name="ann", role="admin")])
    )
    config = core_v1.ConfigMap(
        metadata=ObjectMeta(name="c", namespace="default", labels={guide.LABEL: "acme"}), data={"a": "b"}
    )
    here = await harness(guide.operator, objects=[tenant, config])
    await here.settle()
    ready = containing({"type": "Ready", "status": "True"})
    await here.assert_object((guide.Tenant, "acme"), {"status": {"configMaps": 1, "conditions": ready}})
    await here.assert_object((guide.Tenant, "acme"), {"spec": {"quota": {"pods": 10, "memory": "4Gi"}}})
    await here.assert_object((core_v1.ResourceQuota, "quota", "tenant-acme"), {"spec": {"hard": {"pods": "10"}}})
    await here.assert_object((rbac_v1.RoleBinding, "admin", "tenant-acme"), {"subjects": [{"name": "ann"}]})

    await here.client.delete(guide.Tenant, "acme")
    await here.settle()
    await here.assert_absent((guide.Tenant, "acme"))
    await here.assert_absent((core_v1.Namespace, "tenant-acme"))
    await here.assert_object((core_v1.ConfigMap, "archive-of-acme", "default"), {"data": {"c.a": "b"}})
