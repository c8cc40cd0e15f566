"""Puts real kubectls into a folder, for the tests that hold the embedded cluster to them: an old one and a new one.

1.20 comes from Debian's package ``kubernetes-client``. 1.36 is taken from the folder that ``KUBEWRIGHT_SERVERS`` names
(default ``../shared/kubernetes/servers``). Where one can't be had, the tests run with the other; with ``CI`` set, both
are required.
"""

from __future__ import annotations

import lzma
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kubectl").mkdir(exist_ok=True)
    problems = [problem for problem in (new(folder / "kubectl" / "1.36"), old(folder / "kubectl" / "1.20")) if problem]
    for problem in problems:
        print(problem, file=sys.stderr)
    if len(problems) == 2:
        print("without any kubectl the end-to-end tests can't run", file=sys.stderr)
    return 1 if len(problems) == 2 or (problems and os.environ.get("CI")) else 0


def new(target: Path) -> str | None:
    servers = Path(os.environ.get("KUBEWRIGHT_SERVERS", "../shared/kubernetes/servers"))
    source = servers / "kubectl-1.36.xz"
    if target.exists():
        return None
    if not source.exists():
        return f"no kubectl 1.36: {source} does not exist; set KUBEWRIGHT_SERVERS to the folder that has it"
    with lzma.open(source) as packed:
        install(packed.read(), target)
    return None


def old(target: Path) -> str | None:
    if target.exists():
        return None
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return "no kubectl 1.20: it comes from Debian's package kubernetes-client, and this is no Debian"
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)  # apt downloads as a user of its own
        if not download(scratch) and not (run("apt-get", "update", "-qq") and download(scratch)):
            return "no kubectl 1.20: apt-get download kubernetes-client failed; apt-get update may need root"
        package = next(Path(scratch).glob("kubernetes-client_*.deb"))
        if not run("dpkg-deb", "--extract", str(package), f"{scratch}/root"):
            return f"no kubectl 1.20: {package.name} could not be unpacked"
        install((Path(scratch) / "root/usr/bin/kubectl").read_bytes(), target)
    return None


def download(scratch: str) -> bool:
    return run("apt-get", "download", "-qq", "kubernetes-client", cwd=scratch)


def run(*command: str, cwd: str | None = None) -> bool:
    return (
        subprocess.run(command, cwd=cwd, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        == 0
    )


def install(content: bytes, target: Path) -> None:
    """Written beside and renamed, so that an interrupted run leaves no half a program."""
    beside = target.with_suffix(".part")
    beside.write_bytes(content)
    beside.chmod(0o755)
    beside.rename(target)


if __name__ == "__main__":
    sys.exit(main())
