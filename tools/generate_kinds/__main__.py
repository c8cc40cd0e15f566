"""The command line; run it from the root of the repository."""

from __future__ import annotations

import argparse
from pathlib import Path

from tools.generate_kinds.data import BUILTIN, Data, compact
from tools.generate_kinds.render import write

parser = argparse.ArgumentParser(prog="python -m tools.generate_kinds", description="Writes src/kubewright/kinds.")
parser.add_argument("--data", type=Path, help="a folder with the definitions.json and resources.json to change over to")
arguments = parser.parse_args()
if arguments.data is not None:
    compact(arguments.data, BUILTIN)
write(Data.load(BUILTIN), Path("src/kubewright/kinds"))
