"""The algebra: notation, immutable expressions, exact meaning.  Knows no other package."""

import ta.printing  # noqa: F401  # whoever has an expression can print it
