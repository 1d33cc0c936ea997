"""Maximum and minimum, and monotone functions of them.

B&V: Boyd and Vandenberghe, Convex Optimization.  Spivak, Calculus, problems of chapter 1.
Davey and Priestley, Introduction to Lattices and Order.
"""

from einderive.frontend.identities.entry import equal, known, unequal

LATTICE = "Davey and Priestley, chapter 2"
MONOTONE = "B&V 3.2.4, composition with a monotone function"

PAIRS = (
    known("max(a,b)", "-min(-a,-b)", "-max(-a,-b)", "Spivak, problem 1-13"),
    known("max(a,b)+min(a,b)", "a+b", "2*max(a,b)", "Birkhoff, Lattice Theory, XIII"),
    equal("max(a,b)*min(a,b)", "a*b", "Hardy, Littlewood, Polya, Inequalities, 2.1"),
    unequal("max(a,b)*min(a,b)", "max(a^2,b^2)", "Hardy, Littlewood, Polya, 2.1"),
    known("max(a+c,b+c)", "max(a,b)+c", "max(a,b)+2*c", "Birkhoff, Lattice Theory, XIII"),
    equal("max(c*a,c*b)", "c*max(a,b)", "B&V 3.2.3", "c >= 0"),
    unequal("max(c*a,c*b)", "c*max(a,b)", "B&V 3.2.3, without c >= 0"),
    known("max(a,b)", "(a+b+abs(a-b))/2", "(a+b-abs(a-b))/2", "Spivak, problem 1-13"),
    known("min(a,b)", "(a+b-abs(a-b))/2", "(a+b-abs(a+b))/2", "Spivak, problem 1-13"),
    equal("max(a,max(b,c))", "max(max(a,b),c)", LATTICE),
    unequal("max(a,min(b,c))", "min(max(a,b),c)", LATTICE + ", associativity of unlike operations"),
    known("max(a,min(a,b))", "a", "b", LATTICE + ", absorption"),
    known(
        "max(a,min(b,c))",
        "min(max(a,b),max(a,c))",
        "max(min(a,b),min(a,c))",
        LATTICE + ", distributivity",
    ),
    equal("exp(max(a,b))", "max(exp(a),exp(b))", MONOTONE),
    unequal("exp(-max(a,b))", "max(exp(-a),exp(-b))", MONOTONE + ", decreasing"),
    equal("log(max(a,b))", "max(log(a),log(b))", MONOTONE, "a > 0, b > 0"),
    unequal("max(log(a),log(b))", "log(a+b)", MONOTONE, "a > 0, b > 0"),
    known("sqrt(max(a,b))", "max(sqrt(a),sqrt(b))", "sqrt(a)+sqrt(b)", MONOTONE, "a >= 0, b >= 0"),
    equal("max(a,b)^3", "max(a^3,b^3)", MONOTONE),
    unequal("max(a,b)^2", "max(a^2,b^2)", MONOTONE + ", without a, b >= 0"),
    equal("max(a,b)^2", "max(a^2,b^2)", MONOTONE, "a >= 0, b >= 0"),
    unequal("cos(max(a,b))", "max(cos(a),cos(b))", MONOTONE + ", not monotone"),
    equal("max(a,b)-min(a,b)", "abs(a-b)", "Spivak, problem 1-13"),
    unequal("max(a,b)-min(a,b)", "a-b", "Spivak, problem 1-13, without a >= b"),
    known("tanh(max(a,b))", "max(tanh(a),tanh(b))", "min(tanh(a),tanh(b))", MONOTONE),
    equal("1/max(a,b)", "min(1/a,1/b)", "Hardy, Littlewood, Polya, 2.1", "a > 0, b > 0"),
    unequal("1/max(a,b)", "min(1/a,1/b)", "Hardy, Littlewood, Polya, 2.1, without a, b > 0"),
    known("max(a-b,0)", "max(a,b)-b", "max(a,b)-a", "B&V 3.2.3"),
    equal("min(max(x,0),1)", "max(min(x,1),0)", LATTICE + ", modular law"),
    unequal("min(max(x,1),0)", "max(min(x,0),1)", LATTICE + ", modular law with crossed bounds"),
    equal("where(a > b, a, b)", "max(a,b)", "Spivak, chapter 1"),
    unequal("where(a > b, b, a)", "max(a,b)", "Spivak, chapter 1"),
    equal(
        "max(min(a,b),min(max(a,b),c))",
        "min(max(a,b),max(min(a,b),c))",
        "Knuth, The Art of Computer Programming 7.1.1, median of three",
    ),
    unequal(
        "max(min(a,b),min(max(a,b),c))",
        "max(max(a,b),min(min(a,b),c))",
        "Knuth, TAOCP 7.1.1, median of three",
    ),
    equal("max[k](A[k]+c)", "max[k](A[k])+c", "B&V 3.2.3"),
    unequal("max[k](A[k]*c)", "max[k](A[k])*c", "B&V 3.2.3, without c >= 0"),
    known("exp(max[k](A[k]))", "max[k](exp(A[k]))", "sum[k](exp(A[k]))", MONOTONE),
)
