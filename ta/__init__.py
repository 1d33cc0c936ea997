"""The algebra: the notation, immutable expressions, their exact meaning.

Imports no other package of einderive.
"""

if __name__ == "ta":  # would load each module twice, with other classes
    raise ImportError("ta is a folder of einderive: write `import einderive.ta`")

import einderive.ta.printing  # noqa: F401  # enters the printers, so that `repr` works
