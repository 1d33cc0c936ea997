"""The algebra: notation, immutable expressions, exact meaning.  Knows no other package."""

if __name__ == "ta":  # a second copy of each module, whose classes would be strangers
    raise ImportError("ta is a folder of einderive: write `import einderive.ta`")

import einderive.ta.printing  # noqa: F401  # whoever has an expression can print it
