"""Derivations: rules propose steps, a small kernel proves them, a search explores them."""

if __name__ == "derivations":  # would load each module twice, with other classes
    raise ImportError("derivations is a folder of einderive: write `import einderive.derivations`")
