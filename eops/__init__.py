"""eOperators: a stage without a library operator becomes one generated kernel."""

if __name__ == "eops":  # a second copy of each module, whose classes would be strangers
    raise ImportError("eops is a folder of einderive: write `import einderive.eops`")
