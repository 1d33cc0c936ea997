"""Exponentials and logarithms of products, quotients, powers and sums.

DLMF: NIST Digital Library of Mathematical Functions.  A&S: Abramowitz and Stegun, Handbook of
Mathematical Functions.  DL: Goodfellow, Bengio, Courville, Deep Learning.  B&V: Boyd and
Vandenberghe, Convex Optimization.
"""

from einderive.frontend.identities.entry import Pair

EQUAL = (
    Pair("exp(a+b)", "exp(a)*exp(b)", "DLMF 4.8(ii)"),
    Pair("exp(a-b)", "exp(a)/exp(b)", "DLMF 4.8(ii)"),
    Pair("exp(-x)", "1/exp(x)", "A&S 4.2"),
    Pair("exp(3*x)", "exp(x)^3", "A&S 4.2"),
    Pair("exp(a)^b", "exp(a*b)", "DLMF 4.8(ii)"),
    Pair("log(a*b)", "log(a)+log(b)", "A&S 4.1.7", "a > 0, b > 0"),
    Pair("log(a/b)", "log(a)-log(b)", "A&S 4.1.9", "a > 0, b > 0"),
    Pair("log(x^5)", "5*log(x)", "A&S 4.1.11", "x > 0"),
    Pair("log(1/x)", "-log(x)", "A&S 4.1", "x > 0"),
    Pair("log(exp(x))", "x", "DLMF 4.8(i)"),
    Pair("exp(log(x))", "x", "DLMF 4.8(i)", "x > 0"),
    Pair("log(sqrt(x))", "log(x)/2", "CRC Standard Mathematical Tables, logarithms", "x > 0"),
    Pair("exp(a*log(x))", "x^a", "DLMF 4.2(iv)", "x > 0"),
    Pair("exp(log(a)+log(b))", "a*b", "A&S 4.1", "a > 0, b > 0"),
    Pair("log(x^2)", "2*log(abs(x))", "Gradshteyn and Ryzhik 1.51", "x != 0"),
    Pair("log(exp(a)*exp(b))", "a+b", "DLMF 4.8"),
    Pair("log(exp(a)+exp(b))", "a+log(1+exp(b-a))", "B&V 3.1.5, log-sum-exp"),
    Pair("sigmoid(x)", "exp(x)/(exp(x)+1)", "DL 3.10"),
    Pair("1-sigmoid(x)", "sigmoid(-x)", "DL 3.10"),
    Pair("log(sigmoid(x))", "-softplus(-x)", "DL 3.10"),
    Pair("softplus(x)-softplus(-x)", "x", "DL 3.10"),
    Pair("tanh(x)", "2*sigmoid(2*x)-1", "DL 6.3.2"),
    Pair("sigmoid(x)*(1-sigmoid(x))", "exp(-x)/(1+exp(-x))^2", "DL 3.10"),
    Pair("sigmoid(log(x/(1-x)))", "x", "DL 3.10, logit", "0 < x < 1"),
    Pair("log(x/(1-x))", "-log(1/x-1)", "DL 3.10, logit", "0 < x < 1"),
)
UNEQUAL = (
    Pair("exp(a+b)", "exp(a)+exp(b)", "DLMF 4.8(ii)"),
    Pair("exp(a-b)", "exp(a)-exp(b)", "DLMF 4.8(ii)"),
    Pair("exp(-x)", "-exp(x)", "A&S 4.2"),
    Pair("exp(3*x)", "3*exp(x)", "A&S 4.2"),
    Pair("exp(a*b)", "exp(a)*exp(b)", "DLMF 4.8(ii)"),
    Pair("log(a*b)", "log(a)*log(b)", "A&S 4.1.7", "a > 0, b > 0"),
    Pair("log(a+b)", "log(a)+log(b)", "A&S 4.1.7", "a > 0, b > 0"),
    Pair("log(a/b)", "log(a)/log(b)", "A&S 4.1.9", "a > 1, b > 1"),
    Pair("log(x^5)", "log(x)^5", "A&S 4.1.11", "x > 0"),
    Pair("log(1/x)", "1/log(x)", "A&S 4.1", "x > 1"),
    Pair("exp(log(x^2))", "x", "DLMF 4.8(i)", "x != 0"),
    Pair("exp(2*log(x))", "2*x", "DLMF 4.8(i)", "x > 0"),
    Pair("log(sqrt(x))", "sqrt(log(x))", "CRC, logarithms", "x > 1"),
    Pair("exp(a*log(x))", "a*x", "DLMF 4.2(iv)", "x > 0"),
    Pair("exp(log(a)+log(b))", "a+b", "A&S 4.1", "a > 0, b > 0"),
    Pair("log(x^2)/2", "abs(log(abs(x)))", "Gradshteyn and Ryzhik 1.51", "x != 0"),
    Pair("log(exp(a)*exp(b))", "a*b", "DLMF 4.8"),
    Pair("log(exp(a)+exp(b))", "a+log(1+exp(a-b))", "B&V 3.1.5, log-sum-exp"),
    Pair("sigmoid(x)", "exp(x)/(exp(x)-1)", "DL 3.10", "x > 0"),
    Pair("1-sigmoid(x)", "-sigmoid(x)", "DL 3.10"),
    Pair("log(sigmoid(x))", "-softplus(x)", "DL 3.10"),
    Pair("softplus(x)-softplus(-x)", "abs(x)", "DL 3.10"),
    Pair("tanh(x)", "2*sigmoid(x)-1", "DL 6.3.2"),
    Pair("sigmoid(x)*(1-sigmoid(x))", "exp(-x)/(1+exp(-x))", "DL 3.10"),
    Pair("log(x/(1-x))", "log(1/x-1)", "DL 3.10, logit", "0 < x < 1"),
)
