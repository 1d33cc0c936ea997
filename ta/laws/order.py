"""Functions that compare, by cases."""

from einderive.ta.laws.data import Law

LAWS = (
    Law(
        "max-cases",
        ("max(a,b) = (a+b+abs(a-b))/2", "min(a,b) = (a+b-abs(a-b))/2"),
        floating="a+b may overflow, and loses digits",
        cases=("a >= b", "a <= b"),
    ),
    Law("abs-cases", ("abs(x) = max(x,-x)",), cases=("x >= 0", "x <= 0")),
    Law("relu-cases", ("relu(x) = max(x,0)",), cases=("x >= 0", "x <= 0")),
    Law("sign-cases", ("x*sign(x) = abs(x)",), cases=("x >= 0", "x <= 0")),
)
