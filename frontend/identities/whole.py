"""Floors, ceilings and truncation.

GKP: Graham, Knuth, Patashnik, Concrete Mathematics, chapter 3.  TAOCP: Knuth, The Art of Computer
Programming, 1.2.4.
"""

from einderive.frontend.identities.entry import Pair

EQUAL = (
    Pair("floor(-x)", "-ceil(x)", "GKP 3.4"),
    Pair("ceil(-x)", "-floor(x)", "GKP 3.4"),
    Pair("floor(x+3)", "floor(x)+3", "GKP 3.6"),
    Pair("ceil(x-2)", "ceil(x)-2", "GKP 3.6"),
    Pair("floor(floor(x))", "floor(x)", "GKP 3.1"),
    Pair("ceil(floor(x))", "floor(x)", "GKP 3.1"),
    Pair("floor(floor(x)/2)", "floor(x/2)", "GKP 3.11"),
    Pair("floor(max(a,b))", "max(floor(a),floor(b))", "GKP 3.2, a monotone function"),
    Pair("trunc(x)", "where(x >= 0, floor(x), ceil(x))", "ISO/IEC 9899, 7.12.9.8"),
    Pair("trunc(-x)", "-trunc(x)", "ISO/IEC 9899, 7.12.9.8"),
)
UNEQUAL = (
    Pair("floor(-x)", "-floor(x)", "GKP 3.4"),
    Pair("ceil(x)", "floor(x)+1", "GKP 3.2, where x is an integer"),
    Pair("floor(x+1/2)", "floor(x)+1/2", "GKP 3.6, no integer"),
    Pair("floor(a+b)", "floor(a)+floor(b)", "GKP 3.6"),
    Pair("floor(2*x)", "2*floor(x)", "GKP 3.6"),
    Pair("ceil(floor(x))", "ceil(x)", "GKP 3.1"),
    Pair("floor(floor(x)/2)", "floor(x)/2", "GKP 3.11"),
    Pair("floor(max(a,b))", "max(ceil(a),floor(b))", "GKP 3.2"),
    Pair("trunc(x)", "floor(x)", "ISO/IEC 9899, 7.12.9.8, negative x"),
    Pair("floor(x)^2", "floor(x^2)", "GKP 3.2"),
)
