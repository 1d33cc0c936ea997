"""Equal programs: rules propose steps, a small kernel verifies them, the search explores them."""

if __name__ == "derivations":  # a second copy of each module, whose classes would be strangers
    raise ImportError("derivations is a folder of einderive: write `import einderive.derivations`")
