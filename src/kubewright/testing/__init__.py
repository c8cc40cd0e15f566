"""Testing operators: a harness around one, in virtual time, with a cluster of its own and anything that can go wrong.

Start with `Harness` and docs/testing.md; the fixtures (`plugin`) are there as soon as Kubewright is installed. `faults`
has what can go wrong, `trace` what happened, `virtual_time` the time. Names are loaded when first used: pytest loads this
package, for its plugin, in every project that has Kubewright installed.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False

if TYPE_CHECKING:
    from kubewright.testing.calls import READS, WATCHES, WRITES, Call, Match
    from kubewright.testing.faults import (
        Coalesce,
        Crash,
        Delay,
        Disconnect,
        DropEvent,
        Expire,
        Faults,
        HoldEvent,
        Injection,
        LoseAnswer,
        LoseRequest,
        Refuse,
        StaleView,
    )
    from kubewright.testing.harness import Harness, NeedsVirtualTime
    from kubewright.testing.history import History
    from kubewright.testing.installing import install
    from kubewright.testing.matching import ABSENT, ANYTHING, containing, like
    from kubewright.testing.plugin import OpenHarness
    from kubewright.testing.real_waits import RealWait
    from kubewright.testing.recording import RecordingTransport
    from kubewright.testing.settling import NotSettled
    from kubewright.testing.trace import Sent, Trace
    from kubewright.testing.virtual_time import StillWaiting, VirtualTimeLoop, run_in_virtual_time

__all__ = [
    "ABSENT",
    "ANYTHING",
    "READS",
    "WATCHES",
    "WRITES",
    "Call",
    "Coalesce",
    "Crash",
    "Delay",
    "Disconnect",
    "DropEvent",
    "Expire",
    "Faults",
    "Harness",
    "History",
    "HoldEvent",
    "Injection",
    "LoseAnswer",
    "LoseRequest",
    "Match",
    "NeedsVirtualTime",
    "NotSettled",
    "OpenHarness",
    "RealWait",
    "RecordingTransport",
    "Refuse",
    "Sent",
    "StaleView",
    "StillWaiting",
    "Trace",
    "VirtualTimeLoop",
    "containing",
    "install",
    "like",
    "run_in_virtual_time",
]

if not TYPE_CHECKING:
    _NAMES = {
        "calls": ("READS", "WATCHES", "WRITES", "Call", "Match"),
        "harness": ("Harness", "NeedsVirtualTime"),
        "history": ("History",),
        "installing": ("install",),
        "matching": ("ABSENT", "ANYTHING", "containing", "like"),
        "plugin": ("OpenHarness",),
        "real_waits": ("RealWait",),
        "recording": ("RecordingTransport",),
        "settling": ("NotSettled",),
        "trace": ("Sent", "Trace"),
        "virtual_time": ("StillWaiting", "VirtualTimeLoop", "run_in_virtual_time"),
    }
    _HOME = {name: module for module, names in _NAMES.items() for name in names}

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module 'kubewright.testing' has no attribute {name!r}")
        return getattr(importlib.import_module(f"kubewright.testing.{_HOME.get(name, 'faults')}"), name)
