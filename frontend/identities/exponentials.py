"""Exponentials and logarithms of products, quotients, powers and sums.

DLMF: NIST Digital Library of Mathematical Functions.  A&S: Abramowitz and Stegun, Handbook of
Mathematical Functions.  DL: Goodfellow, Bengio, Courville, Deep Learning.  B&V: Boyd and
Vandenberghe, Convex Optimization.
"""

from einderive.frontend.identities.entry import equal, known, unequal

PAIRS = (
    known("exp(a+b)", "exp(a)*exp(b)", "exp(a)+exp(b)", "DLMF 4.8(ii)"),
    known("exp(a-b)", "exp(a)/exp(b)", "exp(a)-exp(b)", "DLMF 4.8(ii)"),
    known("exp(-x)", "1/exp(x)", "-exp(x)", "A&S 4.2"),
    known("exp(3*x)", "exp(x)^3", "3*exp(x)", "A&S 4.2"),
    equal("exp(a)^b", "exp(a*b)", "DLMF 4.8(ii)"),
    unequal("exp(a*b)", "exp(a)*exp(b)", "DLMF 4.8(ii)"),
    known("log(a*b)", "log(a)+log(b)", "log(a)*log(b)", "A&S 4.1.7", "a > 0, b > 0"),
    equal("log(a/b)", "log(a)-log(b)", "A&S 4.1.9", "a > 0, b > 0"),
    unequal("log(a+b)", "log(a)+log(b)", "A&S 4.1.7", "a > 0, b > 0"),
    known("log(x^5)", "5*log(x)", "log(x)^5", "A&S 4.1.11", "x > 0"),
    unequal("log(a/b)", "log(a)/log(b)", "A&S 4.1.9", "a > 1, b > 1"),
    equal("log(1/x)", "-log(x)", "A&S 4.1", "x > 0"),
    equal("log(exp(x))", "x", "DLMF 4.8(i)"),
    unequal("log(1/x)", "1/log(x)", "A&S 4.1", "x > 1"),
    equal("exp(log(x))", "x", "DLMF 4.8(i)", "x > 0"),
    unequal("exp(log(x^2))", "x", "DLMF 4.8(i)", "x != 0"),
    equal("log(sqrt(x))", "log(x)/2", "CRC Standard Mathematical Tables, logarithms", "x > 0"),
    unequal("exp(2*log(x))", "2*x", "DLMF 4.8(i)", "x > 0"),
    known("exp(a*log(x))", "x^a", "a*x", "DLMF 4.2(iv)", "x > 0"),
    unequal("log(sqrt(x))", "sqrt(log(x))", "CRC, logarithms", "x > 1"),
    known("exp(log(a)+log(b))", "a*b", "a+b", "A&S 4.1", "a > 0, b > 0"),
    equal("log(x^2)", "2*log(abs(x))", "Gradshteyn and Ryzhik 1.51", "x != 0"),
    known("log(exp(a)*exp(b))", "a+b", "a*b", "DLMF 4.8"),
    unequal("log(x^2)/2", "abs(log(abs(x)))", "Gradshteyn and Ryzhik 1.51", "x != 0"),
    known("log(exp(a)+exp(b))", "a+log(1+exp(b-a))", "a+log(1+exp(a-b))", "B&V 3.1.5, log-sum-exp"),
    equal("sigmoid(x)", "exp(x)/(exp(x)+1)", "DL 3.10"),
    known("1-sigmoid(x)", "sigmoid(-x)", "-sigmoid(x)", "DL 3.10"),
    unequal("sigmoid(x)", "exp(x)/(exp(x)-1)", "DL 3.10", "x > 0"),
    known("log(sigmoid(x))", "-softplus(-x)", "-softplus(x)", "DL 3.10"),
    known("softplus(x)-softplus(-x)", "x", "abs(x)", "DL 3.10"),
    known("tanh(x)", "2*sigmoid(2*x)-1", "2*sigmoid(x)-1", "DL 6.3.2"),
    known("sigmoid(x)*(1-sigmoid(x))", "exp(-x)/(1+exp(-x))^2", "exp(-x)/(1+exp(-x))", "DL 3.10"),
    equal("sigmoid(log(x/(1-x)))", "x", "DL 3.10, logit", "0 < x < 1"),
    known("log(x/(1-x))", "-log(1/x-1)", "log(1/x-1)", "DL 3.10, logit", "0 < x < 1"),
)
