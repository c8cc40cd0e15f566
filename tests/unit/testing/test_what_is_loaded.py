from __future__ import annotations

import subprocess
import sys

import kubewright.testing


def test_pytest_loads_nothing_of_kubewright_that_no_test_asks_for() -> None:
    code = "import sys, kubewright.testing.plugin; print(*sorted(n for n in sys.modules if n.startswith('kubewright')))"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert shown.stdout.split() == ["kubewright", "kubewright.testing", "kubewright.testing.plugin"]


def test_every_name_is_there() -> None:
    for name in kubewright.testing.__all__:
        assert getattr(kubewright.testing, name) is not None
