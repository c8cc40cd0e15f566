"""What a process loads before it does something: that, not computing, is what starting takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_SLOW = frozenset({"aiohttp", "asyncio", "cryptography", "msgspec", "structlog", "typing", "yaml"})


def modules_after(script: str, *arguments: str) -> set[str]:
    """The names in ``sys.modules`` that ``script`` brings, in a process of its own."""
    whole = f"import sys; before = set(sys.modules)\n{script}\nprint(*set(sys.modules) - before)"
    command = [sys.executable, "-P", "-c", whole, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] == "kubewright"}


def test_the_package_itself_loads_nothing() -> None:
    loaded = modules_after("import kubewright")
    assert ours(loaded) == {"kubewright"}
    assert len(loaded) < 8
    assert not loaded & _SLOW


def test_a_name_of_the_package_loads_where_it_is_from_and_no_http_client() -> None:
    loaded = modules_after("from kubewright import Client, Manager, Operator")
    assert "kubewright.operator" in loaded
    assert not loaded & {"aiohttp", "cryptography", "python_socks", "structlog", "websockets", "kubewright.devcluster"}


def test_help_loads_no_command() -> None:
    script = """
from kubewright.cli.main import main
try:
    main(["--help"])
except SystemExit:
    pass
"""
    loaded = modules_after(script)
    assert ours(loaded) == {"kubewright"} | {
        f"kubewright.cli{module}" for module in ("", ".commands", ".failure", ".main", ".standard_output")
    }
    assert not loaded & (_SLOW - {"typing"})  # which click needs


def test_what_starts_a_cluster_loads_nothing_that_the_cluster_is_made_of() -> None:
    loaded = modules_after("import kubewright.cli.main, kubewright.cli.cluster")
    assert {name for name in ours(loaded) if name.startswith("kubewright.devcluster.")} == {
        "kubewright.devcluster.cluster_files",
        "kubewright.devcluster.errors",
        "kubewright.devcluster.private_files",
        "kubewright.devcluster.process",
    }
    assert not loaded & (_SLOW - {"typing"})


def test_a_cluster_in_process_loads_nothing_of_https() -> None:
    script = """
import asyncio
from kubewright.devcluster.cluster import DevCluster
async def main():
    async with DevCluster():
        await asyncio.sleep(0)
asyncio.run(main())
"""
    assert not modules_after(script) & {"aiohttp", "cryptography", "structlog", "yaml"}


def test_a_cluster_that_listens_again_loads_no_more_than_it_must(tmp_path: Path) -> None:
    """Credentials are made once, a warning in the log is an exception, and YAML is what few clients send."""
    script = """
import asyncio, os, signal
from pathlib import Path
from kubewright.devcluster.foreground import serve_foreground
from kubewright.telemetry import new_log
stop = lambda _: os.kill(os.getpid(), signal.SIGTERM)
asyncio.run(serve_foreground(Path(sys.argv[1]), ready=stop, log=new_log("console", level="warning")))
"""
    assert "cryptography" in modules_after(script, str(tmp_path / "home"))
    again = modules_after(script, str(tmp_path / "home"))
    assert "aiohttp" in again
    assert not again & {"cryptography", "structlog", "yaml"}
