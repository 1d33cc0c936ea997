"""The functions and commands for users: reading formulas and einsum calls, deriving, compiling,
checking, reporting."""

if __name__ == "frontend":  # would load each module twice, with other classes
    raise ImportError("frontend is a folder of einderive: write `import einderive.frontend`")
