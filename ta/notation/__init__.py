"""From syntax trees to expressions: names, index ranges, Einstein's convention, gather and scatter.

Not here: the tree of a text (`ta.syntax`), what an expression is (`ta.ir`), printing
(`ta.printing`).
May be imported by `ta.printing`, `ta.equality`, `ta.facts`, `ta.identities`,
`ta.gradients` and every other package.
"""
