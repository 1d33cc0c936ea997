"""Statistics: moments, tests, densities, ranks."""

from __future__ import annotations

from einderive.frontend.formulas.written import (
    definite,
    index,
    positive,
    real,
    result,
    unit,
    written,
)

SAMPLE, COLUMNS = (7, 4096), (3, 256)
WASSERMAN = "L. Wasserman, All of Statistics, "

STATISTICS = (
    written(
        "column means",
        "NumPy documentation, numpy.mean",
        "M[j] = mean[i](X[i,j])",
        "X.mean(axis=0)",
        X=real("n", "d"),
        n=SAMPLE,
        d=COLUMNS,
    ),
    written(
        "sample variance",
        "NumPy documentation, numpy.var",
        "V[j] = var[i](X[i,j], ddof=1)",
        "X.var(axis=0, ddof=1)",
        X=real("n", "d"),
        n=SAMPLE,
        d=COLUMNS,
    ),
    written(
        "z-scores",
        "SciPy documentation, scipy.stats.zscore",
        "Z[i,j] = (X[i,j] - mean[k](X[k,j])) / std[k](X[k,j])",
        "(X - X.mean(axis=0)) / X.std(axis=0)",
        X=real("n", "d"),
        n=SAMPLE,
        d=COLUMNS,
    ),
    written(
        "standard error of the mean",
        "SciPy documentation, scipy.stats.sem",
        "S[j] = std[i](X[i,j], ddof=1) / sqrt(size(i))",
        "X.std(axis=0, ddof=1) / np.sqrt(len(X))",
        X=real("n", "d"),
        n=SAMPLE,
        d=COLUMNS,
    ),
    written(
        "skewness",
        "SciPy documentation, scipy.stats.skew",
        """
        M[j] = mean[i](X[i,j])
        G[j] = mean[i]((X[i,j]-M[j])^3) / mean[i]((X[i,j]-M[j])^2)^1.5
        """,
        """
        C = X - X.mean(axis=0)
        (C**3).mean(axis=0) / (C**2).mean(axis=0) ** 1.5
        """,
        X=real("n", "d"),
        n=SAMPLE,
        d=COLUMNS,
    ),
    written(
        "excess kurtosis",
        "SciPy documentation, scipy.stats.kurtosis",
        """
        C[i,j] = X[i,j] - mean[k](X[k,j])
        G[j] = mean[i](C[i,j]^4) / var[i](X[i,j])^2 - 3
        """,
        """
        C = X - X.mean(axis=0)
        (C**4).mean(axis=0) / X.var(axis=0) ** 2 - 3
        """,
        X=real("n", "d"),
        n=SAMPLE,
        d=COLUMNS,
    ),
    written(
        "covariance matrix",
        "NumPy documentation, numpy.cov",
        """
        C[i,j] = X[i,j] - mean[k](X[k,j])       # centred
        S[j,k] = C[i,j]*C[i,k] / (size(i) - 1)
        """,
        "np.cov(X, rowvar=False)",
        X=real("n", "d"),
        n=SAMPLE,
        d=COLUMNS,
    ),
    written(
        "correlation matrix",
        "NumPy documentation, numpy.corrcoef",
        """
        C[i,j] = X[i,j] - mean[k](X[k,j])
        S[j,k] = C[i,j]*C[i,k]
        R[j,k] = S[j,k] / sqrt(S[j,j]*S[k,k])
        """,
        "np.corrcoef(X, rowvar=False)",
        X=real("n", "d"),
        n=SAMPLE,
        d=COLUMNS,
    ),
    written(
        "Pearson's correlation of two samples",
        "SciPy documentation, scipy.stats.pearsonr",
        """
        a[i] = x[i] - mean[k](x[k])
        b[i] = y[i] - mean[k](y[k])
        r = sum[i](a[i]*b[i]) / (norm[i](a[i])*norm[i](b[i]))
        """,
        "np.corrcoef(x, y)[0, 1]",
        x=real("n"),
        y=real("n"),
        n=(9, 1 << 18),
    ),
    written(
        "weighted average",
        "NumPy documentation, numpy.average",
        "M = sum[i](w[i]*x[i]) / sum[i](w[i])",
        "np.average(x, weights=w)",
        w=positive("n"),
        x=real("n"),
        n=(9, 1 << 18),
    ),
    written(
        "weighted variance",
        WASSERMAN + "chapter 24",
        """
        m[j] = w[i]*X[i,j] / sum[k](w[k])
        V[j] = w[i]*(X[i,j]-m[j])^2 / sum[k](w[k])
        """,
        """
        m = np.average(X, axis=0, weights=w)
        np.average((X - m) ** 2, axis=0, weights=w)
        """,
        w=positive("n"),
        X=real("n", "d"),
        n=SAMPLE,
        d=COLUMNS,
    ),
    written(
        "geometric mean",
        "SciPy documentation, scipy.stats.gmean",
        "G[j] = exp(mean[i](log(X[i,j])))",
        "np.exp(np.log(X).mean(axis=0))",
        X=positive("n", "d"),
        n=SAMPLE,
        d=COLUMNS,
    ),
    written(
        "harmonic mean",
        "SciPy documentation, scipy.stats.hmean",
        "H[j] = size(i) / sum[i](1/X[i,j])",
        "len(X) / (1 / X).sum(axis=0)",
        X=positive("n", "d"),
        n=SAMPLE,
        d=COLUMNS,
    ),
    written(
        "normal density, its logarithm",
        "SciPy documentation, scipy.stats.norm",
        "L[i,j] = -0.5*((X[i,j]-m[j])/s[j])^2 - log(s[j]) - 0.5*log(2*pi)",
        "-0.5 * ((X - m) / s) ** 2 - np.log(s) - 0.5 * np.log(2 * np.pi)",
        X=real("n", "d"),
        m=real("d"),
        s=positive("d"),
        n=SAMPLE,
        d=COLUMNS,
    ),
    written(
        "normal distribution function",
        "SciPy documentation, scipy.stats.norm",
        "F[i] = (1 + erf((x[i]-m)/(s*sqrt(2)))) / 2",
        "(1 + torch.erf((x - m) / (s * 2**0.5))) / 2",
        x=real("n"),
        m=real(),
        s=positive(),
        n=(9, 1 << 20),
    ),
    written(
        "Laplace density",
        "SciPy documentation, scipy.stats.laplace",
        "p[i] = exp(-abs(x[i]-m)/b) / (2*b)",
        "np.exp(-np.abs(x - m) / b) / (2 * b)",
        x=real("n"),
        m=real(),
        b=positive(),
        n=(9, 1 << 20),
    ),
    written(
        "kernel density estimate",
        "SciPy documentation, scipy.stats.gaussian_kde",
        "f[j] = mean[i](exp(-((t[j]-x[i])/0.3)^2/2)) / (0.3*sqrt(2*pi))",
        """
        u = (t[:, None] - x) / 0.3
        np.exp(-(u**2) / 2).mean(axis=1) / (0.3 * np.sqrt(2 * np.pi))
        """,
        t=real("m"),
        x=real("n"),
        m=(5, 512),
        n=(7, 2048),
    ),
    written(
        "entropy of distributions",
        "SciPy documentation, scipy.stats.entropy",
        "H[i] = -sum[k](where(P[i,k] > 0, P[i,k]*log(P[i,k]), 0))",
        "-np.where(P > 0, P * np.log(P), 0).sum(axis=1)",
        P=unit("n", "k"),
        n=(5, 2048),
        k=(4, 512),
    ),
    written(
        "relative entropy",
        "SciPy documentation, scipy.special.rel_entr",
        "D[i] = sum[k](P[i,k]*log(P[i,k]/Q[i,k]))",
        "(P * np.log(P / Q)).sum(axis=1)",
        P=unit("n", "k"),
        Q=unit("n", "k"),
        n=(5, 2048),
        k=(4, 512),
    ),
    written(
        "empirical distribution function",
        WASSERMAN + "chapter 7",
        "F[j] = mean[i](x[i] <= t[j])",
        "(x <= t[:, None]).mean(axis=1)",
        x=real("n"),
        t=real("m"),
        m=(5, 512),
        n=(7, 2048),
    ),
    written(
        "histogram of bin numbers",
        "NumPy documentation, numpy.bincount",
        "H[b[n]] += 1",
        "np.bincount(b, minlength=6)",
        b=index("n", below=6),
        H=result(6),
        n=(11, 1 << 20),
    ),
    written(
        "histogram with equal bins",
        "NumPy documentation, numpy.histogram",
        "H[k] = count[i](k <= 8*x[i] and 8*x[i] < k+1) where k in 0:8",
        "np.histogram(x, bins=8, range=(0, 1))[0]",
        x=unit("n"),
        n=(11, 1 << 18),
    ),
    written(
        "chi-square statistic of a table",
        "SciPy documentation, scipy.stats.chi2_contingency",
        """
        E[i,j] = sum[k](O[i,k]) * sum[k](O[k,j]) / sum[k,l](O[k,l])
        X = sum[i,j]((O[i,j]-E[i,j])^2 / E[i,j])
        """,
        """
        E = O.sum(axis=1, keepdims=True) * O.sum(axis=0) / O.sum()
        ((O - E) ** 2 / E).sum()
        """,
        O=positive("n", "m"),
        n=(4, 1024),
        m=(3, 1024),
    ),
    written(
        "mean absolute deviation",
        "pandas documentation 1.5, DataFrame.mad",
        "D[j] = mean[i](abs(X[i,j] - mean[k](X[k,j])))",
        "np.abs(X - X.mean(axis=0)).mean(axis=0)",
        X=real("n", "d"),
        n=SAMPLE,
        d=COLUMNS,
    ),
    written(
        "Mahalanobis distances",
        "SciPy documentation, scipy.spatial.distance.mahalanobis",
        "D[i] = sqrt(sum[j,k]((X[i,j]-m[j])*P[j,k]*(X[i,k]-m[k])))",
        """
        C = X - m
        np.sqrt(((C @ P) * C).sum(axis=1))
        """,
        X=real("n", "d"),
        m=real("d"),
        P=real("d", "d").then(definite),
        n=SAMPLE,
        d=(3, 64),
    ),
    written(
        "autocovariance",
        "P. Brockwell and R. Davis, Time Series: Theory and Methods, 1.4",
        """
        m = mean[i](x[i])
        R[k] = sum[i](where(i + k < n, (x[i+k]-m)*(x[i]-m), 0)) / n where k in 0:5
        """,
        """
        c = x - x.mean()
        np.array([c[k:] @ c[: len(c) - k] for k in range(5)]) / len(c)
        """,
        x=real("n"),
        n=(9, 1 << 16),
        given="n",
    ),
    written(
        "Welch's t statistic",
        "SciPy documentation, scipy.stats.ttest_ind",
        """
        t[j] = (mean[i](A[i,j]) - mean[k](B[k,j]))
               / sqrt(var[i](A[i,j], ddof=1)/size(i) + var[k](B[k,j], ddof=1)/size(k))
        """,
        """
        spread = A.var(axis=0, ddof=1) / len(A) + B.var(axis=0, ddof=1) / len(B)
        (A.mean(axis=0) - B.mean(axis=0)) / np.sqrt(spread)
        """,
        A=real("n", "d"),
        B=real("m", "d"),
        n=SAMPLE,
        m=(5, 2048),
        d=COLUMNS,
    ),
    written(
        "ranks",
        "SciPy documentation, scipy.stats.rankdata, method min",
        "R[i] = 1 + count[j](x[j] < x[i])",
        "1 + (x < x[:, None]).sum(axis=1)",
        x=real("n"),
        n=(9, 2048),
    ),
    written(
        "winsorised mean",
        "SciPy documentation, scipy.stats.mstats.winsorize",
        "M[j] = mean[i](clip(X[i,j], lo[j], hi[j]))",
        "np.clip(X, lo, hi).mean(axis=0)",
        X=real("n", "d"),
        lo=real("d", shift=-2.0),
        hi=real("d", shift=2.0),
        n=SAMPLE,
        d=COLUMNS,
    ),
    written(
        "range of each column",
        "NumPy documentation, numpy.ptp",
        "R[j] = max[i](X[i,j]) - min[i](X[i,j])",
        "np.ptp(X, axis=0)",
        X=real("n", "d"),
        n=SAMPLE,
        d=COLUMNS,
    ),
)
