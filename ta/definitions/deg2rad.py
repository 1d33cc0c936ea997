"""An angle in degrees, in radians."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition("deg2rad(x) = x*pi/180", numpy="np.deg2rad(x)", torch="torch.deg2rad(x)")
