"""The pairs that `equivalent` does not decide: they need words that the notation lacks so far."""

UNDECIDED = frozenset(
    (
        "exp(a)^b = exp(a*b)",
        "exp(a*log(x)) = x^a  for x > 0",
        "x^0.5 = sqrt(x)  for x >= 0",
        "x^a*x^b = x^(a+b)  for x > 0",
        "(x^a)^b = x^(a*b)  for x > 0",
        "(x*y)^a = x^a*y^a  for x > 0, y > 0",
        "x^(-a) = 1/x^a  for x > 0",
        "x^1.5 = x*sqrt(x)  for x >= 0",
        "a^6/a^4 = a^1.5  for a > 0",
        "x^0.5 = x/2  for x >= 0",
        "x^a*x^b = x^(a*b)  for x > 0",
        "(x^a)^b = x^(a^b)  for x > 0, a > 0",
        "(x+y)^a = x^a+y^a  for x > 0, y > 0",
        "x^(-a) = -x^a  for x > 0",
        "x^1.5 = x+sqrt(x)  for x >= 0",
        "sum[k](x^k) = (1-x^size(k))/(1-x)  for x != 1",
        "sum[k](2^k) = 2^size(k)-1",
        "sum[k](x^k) = (1-x^(size(k)+1))/(1-x)  for x != 1",
        "sum[k](2^k) = 2^size(k)",
    )
)
