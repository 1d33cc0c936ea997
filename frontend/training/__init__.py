"""The choice of the programs of a training step, and what is kept between its two passes.

Here: the choice among ways to record a call (`choose`), torch's autograd of a plain line as
one of them (`lines`), intermediate results that are kept (`saving`), the bytes of all that a call
keeps (`kept`), what is remembered of the choice (`remembered`).
Not here: the node on torch's graph (`frontend.autograd`), the algebra (`ta.gradients`).
May be imported by `frontend.api`, `frontend.bench` and tests.
"""
