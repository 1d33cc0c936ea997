"""eOperators: a stage without a library operator becomes one generated kernel."""

if __name__ == "eops":  # would load each module twice, with other classes
    raise ImportError("eops is a folder of einderive: write `import einderive.eops`")
