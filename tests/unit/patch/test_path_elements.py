"""Of path elements, those are remembered that come again, not each UID there ever was."""

from __future__ import annotations

import tracemalloc

from kubewright.patch.path_elements import key_element


def test_ever_new_keys_leave_little_behind() -> None:
    tracemalloc.start()
    try:
        for number in range(2_000):
            key_element({"uid": f"5f0e3c61-9b7d-4c1e-8f52-{number:012}"})
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 40_000
