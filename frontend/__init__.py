"""Entry points: reads einsum calls, formulas and graphs; searches, compiles, checks and reports."""

if __name__ == "frontend":  # a second copy of each module, whose classes would be strangers
    raise ImportError("frontend is a folder of einderive: write `import einderive.frontend`")
