"""Floors, ceilings and truncation.

GKP: Graham, Knuth, Patashnik, Concrete Mathematics, chapter 3.  TAOCP: Knuth, The Art of Computer
Programming, 1.2.4.
"""

from einderive.frontend.identities.entry import equal, known, unequal

PAIRS = (
    known("floor(-x)", "-ceil(x)", "-floor(x)", "GKP 3.4"),
    equal("ceil(-x)", "-floor(x)", "GKP 3.4"),
    unequal("ceil(x)", "floor(x)+1", "GKP 3.2, where x is an integer"),
    equal("floor(x+3)", "floor(x)+3", "GKP 3.6"),
    unequal("floor(x+1/2)", "floor(x)+1/2", "GKP 3.6, no integer"),
    equal("ceil(x-2)", "ceil(x)-2", "GKP 3.6"),
    unequal("floor(a+b)", "floor(a)+floor(b)", "GKP 3.6"),
    equal("floor(floor(x))", "floor(x)", "GKP 3.1"),
    unequal("floor(2*x)", "2*floor(x)", "GKP 3.6"),
    known("ceil(floor(x))", "floor(x)", "ceil(x)", "GKP 3.1"),
    known("floor(floor(x)/2)", "floor(x/2)", "floor(x)/2", "GKP 3.11"),
    equal("floor(max(a,b))", "max(floor(a),floor(b))", "GKP 3.2, a monotone function"),
    unequal("floor(max(a,b))", "max(ceil(a),floor(b))", "GKP 3.2"),
    equal("trunc(x)", "where(x >= 0, floor(x), ceil(x))", "ISO/IEC 9899, 7.12.9.8"),
    unequal("trunc(x)", "floor(x)", "ISO/IEC 9899, 7.12.9.8, negative x"),
    equal("trunc(-x)", "-trunc(x)", "ISO/IEC 9899, 7.12.9.8"),
    unequal("floor(x)^2", "floor(x^2)", "GKP 3.2"),
)
