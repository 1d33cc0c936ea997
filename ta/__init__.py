"""The algebra: notation, immutable expressions, exact meaning.  Knows no other package."""
