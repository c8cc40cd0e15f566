"""Makes the repository's ``tools`` importable, however pytest was started."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3]))
