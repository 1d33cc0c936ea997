"""From expressions to lines of torch: views, scalars, broadcasting and reducing, the writer.

Not here: library operations for whole stages (`recognisers`).
May be imported by `frontend.baselines` alone.
"""
