"""The absolute value, the sign and the positive part in terms of each other.

DL: Goodfellow, Bengio, Courville, Deep Learning.  B&V: Boyd and Vandenberghe, Convex Optimization.
Spivak, Calculus, chapter 1.  CRC: CRC Standard Mathematical Tables and Formulae.
"""

from einderive.frontend.identities.entry import Pair

EQUAL = (
    Pair("abs(a*b)", "abs(a)*abs(b)", "Spivak, chapter 1"),
    Pair("abs(a/b)", "abs(a)/abs(b)", "Spivak, problem 1-12", "b != 0"),
    Pair("abs(x)^2", "x^2", "Spivak, chapter 1"),
    Pair("abs(a-b)", "abs(b-a)", "Spivak, chapter 1"),
    Pair("sign(x)*abs(x)", "x", "Bracewell, The Fourier Transform, chapter 4"),
    Pair("x*sign(x)", "abs(x)", "Bracewell, The Fourier Transform, chapter 4"),
    Pair("sign(a*b)", "sign(a)*sign(b)", "Graham, Knuth, Patashnik, Concrete Mathematics, 9"),
    Pair("relu(x)", "(x+abs(x))/2", "DL 3.10, positive part"),
    Pair("relu(x)-relu(-x)", "x", "DL 3.10, positive and negative part"),
    Pair("relu(x)+relu(-x)", "abs(x)", "DL 3.10, positive and negative part"),
    Pair("sign(x)", "x/abs(x)", "CRC, signum", "x != 0"),
    Pair("relu(c*x)", "c*relu(x)", "DL 6.3.1", "c >= 0"),
    Pair("x*relu(x)", "relu(x)^2", "DL 6.3.1"),
    Pair(
        "sign(x)*max(abs(x)-c,0)",
        "relu(x-c)-relu(-x-c)",
        "Parikh and Boyd, Proximal Algorithms, 6.5.2, soft threshold",
        "c >= 0",
    ),
    Pair(
        "relu(x+1)-2*relu(x)+relu(x-1)",
        "max(1-abs(x),0)",
        "de Boor, A Practical Guide to Splines, IX, hat function",
    ),
    Pair("abs(a+b)+abs(a-b)", "2*max(abs(a),abs(b))", "Hardy, Littlewood, Polya, Inequalities"),
    Pair("relu(x)*relu(-x)", "0", "DL 3.10, positive and negative part"),
    Pair("max(x,0.1*x)", "0.55*x+0.45*abs(x)", "DL 6.3.1, leaky relu"),
    Pair("min(max(x,-1),1)", "(abs(x+1)-abs(x-1))/2", "Chua and Kang, 1977, canonical form"),
    Pair("sign(-x)", "-sign(x)", "CRC, signum"),
)
UNEQUAL = (
    Pair("abs(a+b)", "abs(a)+abs(b)", "Spivak, chapter 1, triangle inequality"),
    Pair("abs(a/b)", "abs(a)/b", "Spivak, problem 1-12, without b > 0", "b != 0"),
    Pair("abs(x)^3", "x^3", "Spivak, chapter 1, without x >= 0"),
    Pair("abs(a-b)", "abs(a)-abs(b)", "Spivak, problem 1-12"),
    Pair("sign(x)*abs(x)", "abs(x)", "Bracewell, chapter 4"),
    Pair("x*sign(x)", "x", "Bracewell, chapter 4"),
    Pair("sign(a+b)", "sign(a)+sign(b)", "Concrete Mathematics, 9"),
    Pair("relu(x)", "(x-abs(x))/2", "DL 3.10, positive part"),
    Pair("relu(x)-relu(-x)", "abs(x)", "DL 3.10"),
    Pair("relu(x)+relu(-x)", "x", "DL 3.10"),
    Pair("sign(x)", "abs(x)/x^2", "CRC, signum", "x != 0"),
    Pair("relu(c*x)", "c*relu(x)", "DL 6.3.1, without c >= 0"),
    Pair("x*relu(x)", "x^2", "DL 6.3.1"),
    Pair(
        "sign(x)*max(abs(x)-c,0)",
        "relu(x-c)+relu(-x-c)",
        "Parikh and Boyd, 6.5.2, soft threshold",
        "c >= 0",
    ),
    Pair("relu(x+1)-relu(x)+relu(x-1)", "max(1-abs(x),0)", "de Boor, IX, hat function"),
    Pair("abs(a+b)+abs(a-b)", "2*abs(a)+2*abs(b)", "Hardy, Littlewood, Polya"),
    Pair("relu(x)*relu(1-x)", "0", "DL 3.10"),
    Pair("max(x,0.1*x)", "0.45*x+0.55*abs(x)", "DL 6.3.1, leaky relu"),
    Pair("min(max(x,-1),1)", "(abs(x+1)+abs(x-1))/2", "Chua and Kang, 1977"),
    Pair("relu(a+b)", "relu(a)+relu(b)", "DL 6.3.1"),
)
