"""The user's side of einderive: it reads formulas and einsum calls, derives, compiles, checks,
reports."""

if __name__ == "frontend":  # would load each module twice, with other classes
    raise ImportError("frontend is a folder of einderive: write `import einderive.frontend`")
