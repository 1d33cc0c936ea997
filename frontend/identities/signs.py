"""The absolute value, the sign and the positive part in terms of each other.

DL: Goodfellow, Bengio, Courville, Deep Learning.  B&V: Boyd and Vandenberghe, Convex Optimization.
Spivak, Calculus, chapter 1.  CRC: CRC Standard Mathematical Tables and Formulae.
"""

from einderive.frontend.identities.entry import equal, known, unequal

PAIRS = (
    equal("abs(a*b)", "abs(a)*abs(b)", "Spivak, chapter 1"),
    unequal("abs(a+b)", "abs(a)+abs(b)", "Spivak, chapter 1, triangle inequality"),
    equal("abs(a/b)", "abs(a)/abs(b)", "Spivak, problem 1-12", "b != 0"),
    unequal("abs(a/b)", "abs(a)/b", "Spivak, problem 1-12, without b > 0", "b != 0"),
    equal("abs(x)^2", "x^2", "Spivak, chapter 1"),
    unequal("abs(x)^3", "x^3", "Spivak, chapter 1, without x >= 0"),
    equal("abs(a-b)", "abs(b-a)", "Spivak, chapter 1"),
    unequal("abs(a-b)", "abs(a)-abs(b)", "Spivak, problem 1-12"),
    known("sign(x)*abs(x)", "x", "abs(x)", "Bracewell, The Fourier Transform, chapter 4"),
    known("x*sign(x)", "abs(x)", "x", "Bracewell, The Fourier Transform, chapter 4"),
    equal("sign(a*b)", "sign(a)*sign(b)", "Graham, Knuth, Patashnik, Concrete Mathematics, 9"),
    unequal("sign(a+b)", "sign(a)+sign(b)", "Concrete Mathematics, 9"),
    known("relu(x)", "(x+abs(x))/2", "(x-abs(x))/2", "DL 3.10, positive part"),
    known("relu(x)-relu(-x)", "x", "abs(x)", "DL 3.10, positive and negative part"),
    known("relu(x)+relu(-x)", "abs(x)", "x", "DL 3.10, positive and negative part"),
    known("sign(x)", "x/abs(x)", "abs(x)/x^2", "CRC, signum", "x != 0"),
    equal("relu(c*x)", "c*relu(x)", "DL 6.3.1", "c >= 0"),
    unequal("relu(c*x)", "c*relu(x)", "DL 6.3.1, without c >= 0"),
    known("x*relu(x)", "relu(x)^2", "x^2", "DL 6.3.1"),
    equal(
        "sign(x)*max(abs(x)-c,0)",
        "relu(x-c)-relu(-x-c)",
        "Parikh and Boyd, Proximal Algorithms, 6.5.2, soft threshold",
        "c >= 0",
    ),
    unequal(
        "sign(x)*max(abs(x)-c,0)",
        "relu(x-c)+relu(-x-c)",
        "Parikh and Boyd, 6.5.2, soft threshold",
        "c >= 0",
    ),
    equal(
        "relu(x+1)-2*relu(x)+relu(x-1)",
        "max(1-abs(x),0)",
        "de Boor, A Practical Guide to Splines, IX, hat function",
    ),
    unequal("relu(x+1)-relu(x)+relu(x-1)", "max(1-abs(x),0)", "de Boor, IX, hat function"),
    equal("abs(a+b)+abs(a-b)", "2*max(abs(a),abs(b))", "Hardy, Littlewood, Polya, Inequalities"),
    unequal("abs(a+b)+abs(a-b)", "2*abs(a)+2*abs(b)", "Hardy, Littlewood, Polya"),
    equal("relu(x)*relu(-x)", "0", "DL 3.10, positive and negative part"),
    unequal("relu(x)*relu(1-x)", "0", "DL 3.10"),
    known("max(x,0.1*x)", "0.55*x+0.45*abs(x)", "0.45*x+0.55*abs(x)", "DL 6.3.1, leaky relu"),
    equal("min(max(x,-1),1)", "(abs(x+1)-abs(x-1))/2", "Chua and Kang, 1977, canonical form"),
    unequal("min(max(x,-1),1)", "(abs(x+1)+abs(x-1))/2", "Chua and Kang, 1977"),
    equal("sign(-x)", "-sign(x)", "CRC, signum"),
    unequal("relu(a+b)", "relu(a)+relu(b)", "DL 6.3.1"),
)
