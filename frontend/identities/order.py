"""Maximum and minimum, and monotone functions of them.

B&V: Boyd and Vandenberghe, Convex Optimization.  Spivak, Calculus, problems of chapter 1.
Davey and Priestley, Introduction to Lattices and Order.
"""

from einderive.frontend.identities.entry import Pair

LATTICE = "Davey and Priestley, chapter 2"
MONOTONE = "B&V 3.2.4, composition with a monotone function"

EQUAL = (
    Pair("max(a,b)", "-min(-a,-b)", "Spivak, problem 1-13"),
    Pair("max(a,b)+min(a,b)", "a+b", "Birkhoff, Lattice Theory, XIII"),
    Pair("max(a,b)*min(a,b)", "a*b", "Hardy, Littlewood, Polya, Inequalities, 2.1"),
    Pair("max(a+c,b+c)", "max(a,b)+c", "Birkhoff, Lattice Theory, XIII"),
    Pair("max(c*a,c*b)", "c*max(a,b)", "B&V 3.2.3", "c >= 0"),
    Pair("max(a,b)", "(a+b+abs(a-b))/2", "Spivak, problem 1-13"),
    Pair("min(a,b)", "(a+b-abs(a-b))/2", "Spivak, problem 1-13"),
    Pair("max(a,max(b,c))", "max(max(a,b),c)", LATTICE),
    Pair("max(a,min(a,b))", "a", LATTICE + ", absorption"),
    Pair("max(a,min(b,c))", "min(max(a,b),max(a,c))", LATTICE + ", distributivity"),
    Pair("exp(max(a,b))", "max(exp(a),exp(b))", MONOTONE),
    Pair("log(max(a,b))", "max(log(a),log(b))", MONOTONE, "a > 0, b > 0"),
    Pair("sqrt(max(a,b))", "max(sqrt(a),sqrt(b))", MONOTONE, "a >= 0, b >= 0"),
    Pair("max(a,b)^3", "max(a^3,b^3)", MONOTONE),
    Pair("max(a,b)^2", "max(a^2,b^2)", MONOTONE, "a >= 0, b >= 0"),
    Pair("max(a,b)-min(a,b)", "abs(a-b)", "Spivak, problem 1-13"),
    Pair("tanh(max(a,b))", "max(tanh(a),tanh(b))", MONOTONE),
    Pair("1/max(a,b)", "min(1/a,1/b)", "Hardy, Littlewood, Polya, 2.1", "a > 0, b > 0"),
    Pair("max(a-b,0)", "max(a,b)-b", "B&V 3.2.3"),
    Pair("min(max(x,0),1)", "max(min(x,1),0)", LATTICE + ", modular law"),
    Pair("where(a > b, a, b)", "max(a,b)", "Spivak, chapter 1"),
    Pair(
        "max(min(a,b),min(max(a,b),c))",
        "min(max(a,b),max(min(a,b),c))",
        "Knuth, The Art of Computer Programming 7.1.1, median of three",
    ),
    Pair("max[k](A[k]+c)", "max[k](A[k])+c", "B&V 3.2.3"),
    Pair("exp(max[k](A[k]))", "max[k](exp(A[k]))", MONOTONE),
)
UNEQUAL = (
    Pair("max(a,b)", "-max(-a,-b)", "Spivak, problem 1-13"),
    Pair("max(a,b)+min(a,b)", "2*max(a,b)", "Birkhoff, XIII"),
    Pair("max(a,b)*min(a,b)", "max(a^2,b^2)", "Hardy, Littlewood, Polya, 2.1"),
    Pair("max(a+c,b+c)", "max(a,b)+2*c", "Birkhoff, XIII"),
    Pair("max(c*a,c*b)", "c*max(a,b)", "B&V 3.2.3, without c >= 0"),
    Pair("max(a,b)", "(a+b-abs(a-b))/2", "Spivak, problem 1-13"),
    Pair("min(a,b)", "(a+b-abs(a+b))/2", "Spivak, problem 1-13"),
    Pair("max(a,min(b,c))", "min(max(a,b),c)", LATTICE + ", associativity of unlike operations"),
    Pair("max(a,min(a,b))", "b", LATTICE + ", absorption"),
    Pair("max(a,min(b,c))", "max(min(a,b),min(a,c))", LATTICE + ", distributivity"),
    Pair("exp(-max(a,b))", "max(exp(-a),exp(-b))", MONOTONE + ", decreasing"),
    Pair("max(log(a),log(b))", "log(a+b)", MONOTONE, "a > 0, b > 0"),
    Pair("sqrt(max(a,b))", "sqrt(a)+sqrt(b)", MONOTONE, "a >= 0, b >= 0"),
    Pair("max(a,b)^2", "max(a^2,b^2)", MONOTONE + ", without a, b >= 0"),
    Pair("cos(max(a,b))", "max(cos(a),cos(b))", MONOTONE + ", not monotone"),
    Pair("max(a,b)-min(a,b)", "a-b", "Spivak, problem 1-13, without a >= b"),
    Pair("tanh(max(a,b))", "min(tanh(a),tanh(b))", MONOTONE),
    Pair("1/max(a,b)", "min(1/a,1/b)", "Hardy, Littlewood, Polya, 2.1, without a, b > 0"),
    Pair("max(a-b,0)", "max(a,b)-a", "B&V 3.2.3"),
    Pair("min(max(x,1),0)", "max(min(x,0),1)", LATTICE + ", modular law with crossed bounds"),
    Pair("where(a > b, b, a)", "max(a,b)", "Spivak, chapter 1"),
    Pair(
        "max(min(a,b),min(max(a,b),c))",
        "max(max(a,b),min(min(a,b),c))",
        "Knuth, TAOCP 7.1.1, median of three",
    ),
    Pair("max[k](A[k]*c)", "max[k](A[k])*c", "B&V 3.2.3, without c >= 0"),
    Pair("exp(max[k](A[k]))", "sum[k](exp(A[k]))", MONOTONE),
)
