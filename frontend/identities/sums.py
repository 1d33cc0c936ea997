"""Sums over what does not depend on the index, geometric and index sums, sums under functions.

GKP: Graham, Knuth, Patashnik, Concrete Mathematics, chapter 2.
"""

from einderive.frontend.identities.entry import equal, known, unequal

VARIANCE = "Wasserman, All of Statistics, 3.3"

PAIRS = (
    known("sum[k](c)", "size(k)*c", "c", "GKP 2.3"),
    known("sum[k](A[k]+c)", "sum[k](A[k])+size(k)*c", "sum[k](A[k])+c", "GKP 2.3"),
    known("sum[k](k)", "size(k)*(size(k)-1)/2", "size(k)*(size(k)+1)/2", "GKP 2.1"),
    known(
        "sum[k](k^2)",
        "size(k)*(size(k)-1)*(2*size(k)-1)/6",
        "size(k)*(size(k)-1)*(2*size(k)+1)/6",
        "GKP 2.5",
    ),
    known("sum[k](2*k+1)", "size(k)^2", "size(k)*(size(k)+1)", "GKP 2.1"),
    known("sum[k](a+b*k)", "size(k)*a+b*size(k)*(size(k)-1)/2", "size(k)*(a+b)", "GKP 2.2"),
    known(
        "sum[k](x^k)",
        "(1-x^size(k))/(1-x)",
        "(1-x^(size(k)+1))/(1-x)",
        "GKP 2.3, geometric",
        "x != 1",
    ),
    known("sum[k](2^k)", "2^size(k)-1", "2^size(k)", "GKP 2.3, geometric"),
    known("sum[k](1/((k+1)*(k+2)))", "size(k)/(size(k)+1)", "1-1/size(k)", "GKP 2.6"),
    equal("sum[k](A[k]*sum[j](B[j]))", "sum[k](A[k])*sum[j](B[j])", "GKP 2.4"),
    unequal("sum[k](A[k]*B[k])", "sum[k](A[k])*sum[j](B[j])", "GKP 2.4"),
    known(
        "sum[k]((A[k]-sum[j](A[j])/size(j))^2)",
        "sum[k](A[k]^2)-sum[k](A[k])^2/size(k)",
        "sum[k](A[k]^2)-sum[k](A[k])^2",
        VARIANCE,
    ),
    equal("log(prod[k](A[k]))", "sum[k](log(A[k]))", "GKP 2, exercises", "A > 0"),
    unequal("log(sum[k](A[k]))", "sum[k](log(A[k]))", "GKP 2, exercises", "A > 0"),
)
