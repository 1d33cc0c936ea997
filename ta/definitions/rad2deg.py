"""An angle in radians, in degrees."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition("rad2deg(x) = x*180/pi", numpy="np.rad2deg(x)", torch="torch.rad2deg(x)")
