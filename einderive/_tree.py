"""Where einderive's packages lie: beside this folder in a source tree, in it once installed."""

from __future__ import annotations

from pathlib import Path

import einderive

_HERE = Path(__file__).resolve().parent

if not (_HERE / "ta").is_dir():
    einderive.__path__.append(str(_HERE.parent))
