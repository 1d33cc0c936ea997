"""eOperators: a stage without a library operator becomes one generated kernel."""
