"""Moments, standardisation, and shifts of softmax and log-sum-exp.

WASSERMAN: All of Statistics, 3.3.  DL: Goodfellow, Bengio, Courville, Deep Learning, 4.1.
BLANCHARD: Blanchard, Higham, Higham, Accurately computing the log-sum-exp and softmax functions.
"""

from einderive.frontend.identities.entry import Pair

WASSERMAN = "Wasserman, All of Statistics, 3.3"
DEEP = "Deep Learning, 4.1"
BLANCHARD = "Blanchard, Higham, Higham 2021, section 1"

EQUAL = (
    Pair("mean[k](A[k]+c)", "mean[k](A[k])+c", WASSERMAN),
    Pair("var[k](A[k]+c)", "var[k](A[k])", WASSERMAN),
    Pair("var[k](c*A[k])", "c^2*var[k](A[k])", WASSERMAN),
    Pair("std[k](c*A[k])", "abs(c)*std[k](A[k])", WASSERMAN),
    Pair("mean[k](A[k]^2)-mean[k](A[k])^2", "var[k](A[k])", WASSERMAN),
    Pair(
        "mean[k]((A[k]-mean[j](A[j]))*(B[k]-mean[j](B[j])))",
        "mean[k](A[k]*B[k])-mean[k](A[k])*mean[k](B[k])",
        WASSERMAN + ", covariance",
    ),
    Pair("mean[k]((A[k]-c)^2)", "var[k](A[k])+(mean[k](A[k])-c)^2", WASSERMAN + ", bias"),
    Pair("sum[k](A[k]-mean[j](A[j]))", "0", WASSERMAN),
    Pair(
        "sum[k](exp(A[k]+c))/exp(c)", "sum[k](exp(A[k]))", DEEP + ", softmax is the same for A + c"
    ),
    Pair(
        "sum[k](B[k]*exp(A[k]-c))/sum[k](exp(A[k]-c))",
        "sum[k](B[k]*exp(A[k]))/sum[k](exp(A[k]))",
        DEEP,
    ),
    Pair("c+log(sum[k](exp(A[k]-c)))", "log(sum[k](exp(A[k])))", BLANCHARD),
    Pair("max[k](A[k])+log(sum[k](exp(A[k]-max[j](A[j]))))", "log(sum[k](exp(A[k])))", BLANCHARD),
    Pair("log(mean[k](exp(A[k])))", "log(sum[k](exp(A[k])))-log(size(k))", BLANCHARD),
    Pair("sqrt(mean[k]((c*A[k])^2))", "abs(c)*sqrt(mean[k](A[k]^2))", WASSERMAN),
)
UNEQUAL = (
    Pair("mean[k](A[k]+c)", "mean[k](A[k])+size(k)*c", WASSERMAN),
    Pair("var[k](A[k]+c)", "var[k](A[k])+c", WASSERMAN),
    Pair("var[k](c*A[k])", "c*var[k](A[k])", WASSERMAN),
    Pair("std[k](c*A[k])", "c*std[k](A[k])", WASSERMAN + ", without c >= 0"),
    Pair("mean[k](A[k]^2)-mean[k](A[k])", "var[k](A[k])", WASSERMAN),
    Pair(
        "mean[k]((A[k]-mean[j](A[j]))*(B[k]-mean[j](B[j])))",
        "mean[k](A[k]*B[k])",
        WASSERMAN + ", covariance",
    ),
    Pair("mean[k]((A[k]-c)^2)", "var[k](A[k])+c^2", WASSERMAN + ", bias"),
    Pair("sum[k](A[k]-mean[j](A[j]))", "sum[k](A[k])", WASSERMAN),
    Pair("sum[k](exp(A[k]+c))/exp(c)", "sum[k](exp(A[k]))/exp(c)", DEEP),
    Pair(
        "sum[k](B[k]*exp(A[k]-c))/sum[k](exp(A[k]))",
        "sum[k](B[k]*exp(A[k]))/sum[k](exp(A[k]))",
        DEEP,
    ),
    Pair("c+log(sum[k](exp(A[k]-c)))", "c+log(sum[k](exp(A[k])))", BLANCHARD),
    Pair("max[k](A[k])+log(sum[k](exp(A[k]-max[j](A[j]))))", "max[k](A[k])", BLANCHARD),
    Pair("log(mean[k](exp(A[k])))", "mean[k](A[k])", BLANCHARD + ", Jensen"),
    Pair("sqrt(mean[k]((c*A[k])^2))", "c*sqrt(mean[k](A[k]^2))", WASSERMAN + ", without c >= 0"),
)
