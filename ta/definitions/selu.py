"""1.0507*x where x is positive, else 1.7581*(e^x - 1).

It keeps the mean 0 and the variance 1 (G. Klambauer and others, Self-Normalizing Neural Networks,
2017).
"""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "selu(x) = 1.0507009873554805*relu(x) + 1.7580993408473766*expm1(minimum(x, 0))",
    torch="F.selu(x)",
)
