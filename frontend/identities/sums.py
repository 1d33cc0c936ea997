"""Sums over what does not depend on the index, geometric and index sums, sums under functions.

GKP: Graham, Knuth, Patashnik, Concrete Mathematics, chapter 2.
"""

from einderive.frontend.identities.entry import Pair

VARIANCE = "Wasserman, All of Statistics, 3.3"

EQUAL = (
    Pair("sum[k](c)", "size(k)*c", "GKP 2.3"),
    Pair("sum[k](A[k]+c)", "sum[k](A[k])+size(k)*c", "GKP 2.3"),
    Pair("sum[k](k)", "size(k)*(size(k)-1)/2", "GKP 2.1"),
    Pair("sum[k](k^2)", "size(k)*(size(k)-1)*(2*size(k)-1)/6", "GKP 2.5"),
    Pair("sum[k](2*k+1)", "size(k)^2", "GKP 2.1"),
    Pair("sum[k](a+b*k)", "size(k)*a+b*size(k)*(size(k)-1)/2", "GKP 2.2"),
    Pair("sum[k](x^k)", "(1-x^size(k))/(1-x)", "GKP 2.3, geometric", "x != 1"),
    Pair("sum[k](2^k)", "2^size(k)-1", "GKP 2.3, geometric"),
    Pair("sum[k](1/((k+1)*(k+2)))", "size(k)/(size(k)+1)", "GKP 2.6"),
    Pair("sum[k](A[k]*sum[j](B[j]))", "sum[k](A[k])*sum[j](B[j])", "GKP 2.4"),
    Pair(
        "sum[k]((A[k]-sum[j](A[j])/size(j))^2)", "sum[k](A[k]^2)-sum[k](A[k])^2/size(k)", VARIANCE
    ),
    Pair("log(prod[k](A[k]))", "sum[k](log(A[k]))", "GKP 2, exercises", "A > 0"),
)
UNEQUAL = (
    Pair("sum[k](c)", "c", "GKP 2.3"),
    Pair("sum[k](A[k]+c)", "sum[k](A[k])+c", "GKP 2.3"),
    Pair("sum[k](k)", "size(k)*(size(k)+1)/2", "GKP 2.1"),
    Pair("sum[k](k^2)", "size(k)*(size(k)-1)*(2*size(k)+1)/6", "GKP 2.5"),
    Pair("sum[k](2*k+1)", "size(k)*(size(k)+1)", "GKP 2.1"),
    Pair("sum[k](a+b*k)", "size(k)*(a+b)", "GKP 2.2"),
    Pair("sum[k](x^k)", "(1-x^(size(k)+1))/(1-x)", "GKP 2.3, geometric", "x != 1"),
    Pair("sum[k](2^k)", "2^size(k)", "GKP 2.3, geometric"),
    Pair("sum[k](1/((k+1)*(k+2)))", "1-1/size(k)", "GKP 2.6"),
    Pair("sum[k](A[k]*B[k])", "sum[k](A[k])*sum[j](B[j])", "GKP 2.4"),
    Pair("sum[k]((A[k]-sum[j](A[j])/size(j))^2)", "sum[k](A[k]^2)-sum[k](A[k])^2", VARIANCE),
    Pair("log(sum[k](A[k]))", "sum[k](log(A[k]))", "GKP 2, exercises", "A > 0"),
)
