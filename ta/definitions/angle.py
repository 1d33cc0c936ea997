"""The angle from -pi to pi of a complex number, or of a real one: 0 or pi."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "angle(x) = atan2(imag(x), real(x))", numpy="np.angle(x)", torch="torch.angle(x)"
)
