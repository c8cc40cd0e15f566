"""Testing operators: a loop in virtual time, recorded requests, and pytest fixtures for an in-process cluster.

The fixtures (`plugin`) are there as soon as Kubewright is installed.
"""

from kubewright.testing.installing import install
from kubewright.testing.recording import RecordingTransport
from kubewright.testing.virtual_time import StillWaiting, VirtualTimeLoop, run_in_virtual_time

__all__ = ["RecordingTransport", "StillWaiting", "VirtualTimeLoop", "install", "run_in_virtual_time"]
