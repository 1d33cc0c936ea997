"""Sums of terms that do not depend on the index."""

from einderive.ta.laws.data import Law

LAW = Law("sum-constant", ("sum[k](c) = size(k)*c",), floating="the right side has more digits")
