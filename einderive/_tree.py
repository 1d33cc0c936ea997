"""Where einderive's packages lie: beside this folder in a source tree, in it once installed."""

from __future__ import annotations

import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent

if not (_HERE / "ta").is_dir():
    sys.modules["einderive"].__path__.append(str(_HERE.parent))  # imported, it would be a circle
