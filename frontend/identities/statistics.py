"""Moments, standardisation, and shifts of softmax and log-sum-exp.

WASSERMAN: All of Statistics, 3.3.  DL: Goodfellow, Bengio, Courville, Deep Learning, 4.1.
BLANCHARD: Blanchard, Higham, Higham, Accurately computing the log-sum-exp and softmax functions.
"""

from einderive.frontend.identities.entry import equal, known, unequal

WASSERMAN = "Wasserman, All of Statistics, 3.3"
DEEP = "Deep Learning, 4.1"
BLANCHARD = "Blanchard, Higham, Higham 2021, section 1"

PAIRS = (
    known("mean[k](A[k]+c)", "mean[k](A[k])+c", "mean[k](A[k])+size(k)*c", WASSERMAN),
    known("var[k](A[k]+c)", "var[k](A[k])", "var[k](A[k])+c", WASSERMAN),
    known("var[k](c*A[k])", "c^2*var[k](A[k])", "c*var[k](A[k])", WASSERMAN),
    equal("std[k](c*A[k])", "abs(c)*std[k](A[k])", WASSERMAN),
    unequal("std[k](c*A[k])", "c*std[k](A[k])", WASSERMAN + ", without c >= 0"),
    equal("mean[k](A[k]^2)-mean[k](A[k])^2", "var[k](A[k])", WASSERMAN),
    unequal("mean[k](A[k]^2)-mean[k](A[k])", "var[k](A[k])", WASSERMAN),
    known(
        "mean[k]((A[k]-mean[j](A[j]))*(B[k]-mean[j](B[j])))",
        "mean[k](A[k]*B[k])-mean[k](A[k])*mean[k](B[k])",
        "mean[k](A[k]*B[k])",
        WASSERMAN + ", covariance",
    ),
    known(
        "mean[k]((A[k]-c)^2)",
        "var[k](A[k])+(mean[k](A[k])-c)^2",
        "var[k](A[k])+c^2",
        WASSERMAN + ", bias",
    ),
    known("sum[k](A[k]-mean[j](A[j]))", "0", "sum[k](A[k])", WASSERMAN),
    equal(
        "sum[k](exp(A[k]+c))/exp(c)", "sum[k](exp(A[k]))", DEEP + ", softmax is the same for A + c"
    ),
    unequal("sum[k](exp(A[k]+c))/exp(c)", "sum[k](exp(A[k]))/exp(c)", DEEP),
    equal(
        "sum[k](B[k]*exp(A[k]-c))/sum[k](exp(A[k]-c))",
        "sum[k](B[k]*exp(A[k]))/sum[k](exp(A[k]))",
        DEEP,
    ),
    unequal(
        "sum[k](B[k]*exp(A[k]-c))/sum[k](exp(A[k]))",
        "sum[k](B[k]*exp(A[k]))/sum[k](exp(A[k]))",
        DEEP,
    ),
    known(
        "c+log(sum[k](exp(A[k]-c)))",
        "log(sum[k](exp(A[k])))",
        "c+log(sum[k](exp(A[k])))",
        BLANCHARD,
    ),
    known(
        "max[k](A[k])+log(sum[k](exp(A[k]-max[j](A[j]))))",
        "log(sum[k](exp(A[k])))",
        "max[k](A[k])",
        BLANCHARD,
    ),
    equal("log(mean[k](exp(A[k])))", "log(sum[k](exp(A[k])))-log(size(k))", BLANCHARD),
    unequal("log(mean[k](exp(A[k])))", "mean[k](A[k])", BLANCHARD + ", Jensen"),
    equal("sqrt(mean[k]((c*A[k])^2))", "abs(c)*sqrt(mean[k](A[k]^2))", WASSERMAN),
    unequal("sqrt(mean[k]((c*A[k])^2))", "c*sqrt(mean[k](A[k]^2))", WASSERMAN + ", without c >= 0"),
)
