"""Sums over an index in closed form.

In these laws, k runs over the range from m to n-1, and F stands for a function of the index.
"""

from typing import Final

from einderive.ta.laws.data import Law

GEOMETRIC: Final = ("sum[k](a*x^k) = a*(x^m-x^n)/(1-x)",)

LAWS = (
    Law(
        "sum-constant",
        ("sum[k](c) = (n-m)*c",),
        floating="the right side has more digits",
        helps=True,
        keeps="always",
    ),
    Law(
        "sum-powers",
        (
            "sum[k](a+b*k+c*k^2+d*k^3) = (n-m)*a+b*(n*(n-1)-m*(m-1))/2"
            "+c*(n*(n-1)*(2*n-1)-m*(m-1)*(2*m-1))/6+d*(n^2*(n-1)^2-m^2*(m-1)^2)/4",
        ),
        floating="the right side has more digits",
        helps=True,
        keeps="finite",
    ),
    Law(
        "sum-differences",
        ("sum[k](F[k+1]-F[k]) = F[n]-F[m]",),
        floating="the right side has more digits; the differences may overflow",
        helps=True,
        keeps="finite",
    ),
    Law(
        "sum-geometric",
        GEOMETRIC,
        "x != 1",
        "the right side loses digits near x = 1, where it is 0/0; powers may overflow",
    ),
    Law(
        "sum-geometric-small",
        GEOMETRIC,
        "x >= -1/2, x <= 1/2",
        "the right side has more digits",
        helps=True,
        keeps="finite",
    ),
    Law(
        "sum-geometric-index",
        ("sum[k](a*k*x^k) = a*(m*x^m-n*x^n+x*((n-1)*x^n-(m-1)*x^m))/(1-x)^2",),
        "x != 1",
        "the right side loses digits near x = 1, where it is 0/0; powers may overflow",
    ),
)
