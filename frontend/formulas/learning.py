"""Machine learning outside of neural networks: metrics, kernels, estimators."""

from __future__ import annotations

from functools import partial

from einderive.frontend.formulas.written import index, positive, real, result, truth, unit, written

SKLEARN = "scikit-learn documentation, "
BISHOP = "C. Bishop, Pattern Recognition and Machine Learning, "
_metric = partial(written, source=SKLEARN + "sklearn.metrics")
ROWS, FEATURES = (6, 1024), (3, 64)

LEARNING = (
    written(
        "radial basis function kernel",
        SKLEARN + "sklearn.metrics.pairwise.rbf_kernel",
        "K[i,j] = exp(-0.5*sum[k]((X[i,k] - Z[j,k])^2))",
        """
        D = (X**2).sum(axis=1)[:, None] + (Z**2).sum(axis=1) - 2 * X @ Z.T
        np.exp(-0.5 * D)
        """,
        X=real("n", "d"),
        Z=real("m", "d"),
        n=ROWS,
        m=(5, 512),
        d=FEATURES,
    ),
    written(
        "polynomial kernel",
        SKLEARN + "sklearn.metrics.pairwise.polynomial_kernel",
        "K[i,j] = (0.1*sum[k](X[i,k]*Z[j,k]) + 1)^3",
        "(0.1 * X @ Z.T + 1) ** 3",
        X=real("n", "d"),
        Z=real("m", "d"),
        n=ROWS,
        m=(5, 512),
        d=FEATURES,
    ),
    written(
        "Laplacian kernel",
        SKLEARN + "sklearn.metrics.pairwise.laplacian_kernel",
        "K[i,j] = exp(-0.1*sum[k](abs(X[i,k] - Z[j,k])))",
        "np.exp(-0.1 * np.abs(X[:, None] - Z).sum(axis=2))",
        X=real("n", "d"),
        Z=real("m", "d"),
        n=(6, 256),
        m=(5, 256),
        d=FEATURES,
    ),
    written(
        "cosine similarity of all pairs",
        SKLEARN + "sklearn.metrics.pairwise.cosine_similarity",
        "S[i,j] = X[i,k]*Z[j,k]/(norm[d](X[i,d])*norm[d](Z[j,d]))",
        """
        x = np.linalg.norm(X, axis=1)[:, None]
        (X @ Z.T) / (x * np.linalg.norm(Z, axis=1))
        """,
        X=real("n", "d"),
        Z=real("m", "d"),
        n=ROWS,
        m=(5, 512),
        d=FEATURES,
    ),
    written(
        "nearest centre",
        SKLEARN + "sklearn.cluster.KMeans",
        "L[i] = argmin[c](sum[k]((X[i,k] - C[c,k])^2))",
        "((X[:, None] - C) ** 2).sum(axis=2).argmin(axis=1)",
        X=real("n", "d"),
        C=real("c", "d"),
        n=ROWS,
        c=(4, 32),
        d=FEATURES,
    ),
    written(
        "new centres of k-means",
        BISHOP + "9.1",
        """
        N[L[i]] += 1
        S[L[i],k] += X[i,k]
        C[c,k] = S[c,k]/max(N[c], 1)
        """,
        """
        S = np.zeros((4, X.shape[1]), X.dtype)
        np.add.at(S, L, X)
        S / np.maximum(np.bincount(L, minlength=4), 1)[:, None]
        """,
        L=index("n", below=4),
        X=real("n", "d"),
        N=result(4),
        S=result(4, "d"),
        n=ROWS,
        d=FEATURES,
    ),
    written(
        "mixture of Gaussians, its responsibilities",
        BISHOP + "9.2",
        """
        Q[i,c] = log(w[c]) - sum[k](log(s[c,k]) + ((X[i,k] - m[c,k])/s[c,k])^2/2)
        R[i,c] = softmax[c](Q[i,c])
        """,
        """
        U = (X[:, None] - m) / s
        Q = np.log(w) - (np.log(s) + U**2 / 2).sum(axis=2)
        E = np.exp(Q - Q.max(axis=1, keepdims=True))
        E / E.sum(axis=1, keepdims=True)
        """,
        w=unit("c"),
        s=positive("c", "d"),
        X=real("n", "d"),
        m=real("c", "d"),
        n=ROWS,
        c=(4, 16),
        d=FEATURES,
    ),
    written(
        "standard scaler",
        SKLEARN + "sklearn.preprocessing.StandardScaler",
        """
        M[j] = mean[i](X[i,j])
        S[j] = std[i](X[i,j])
        Y[i,j] = (X[i,j] - M[j])/where(S[j] == 0, 1, S[j])
        """,
        """
        S = X.std(axis=0)
        (X - X.mean(axis=0)) / np.where(S == 0, 1, S)
        """,
        X=real("n", "d"),
        n=(6, 4096),
        d=(3, 256),
    ),
    written(
        "range scaler",
        SKLEARN + "sklearn.preprocessing.MinMaxScaler",
        "Y[i,j] = (X[i,j] - min[k](X[k,j]))/(max[k](X[k,j]) - min[k](X[k,j]))",
        "(X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))",
        X=real("n", "d"),
        n=(6, 4096),
        d=(3, 256),
    ),
    written(
        "rows of length one",
        SKLEARN + "sklearn.preprocessing.normalize",
        "Y[i,j] = X[i,j]/norm[k](X[i,k])",
        "X / np.linalg.norm(X, axis=1, keepdims=True)",
        X=real("n", "d"),
        n=(6, 4096),
        d=(3, 256),
    ),
    written(
        "one-hot encoding",
        SKLEARN + "sklearn.preprocessing.OneHotEncoder",
        "Y[i,c] = where(L[i] == c, 1, 0) where c in 0:5",
        "(L[:, None] == np.arange(5)).astype(np.int64)",
        L=index("n", below=5),
        n=(7, 1 << 16),
    ),
    _metric(
        "accuracy",
        text="a = mean[i](argmax[c](P[i,c]) == y[i])",
        line="(P.argmax(axis=1) == y).mean()",
        P=real("n", "c"),
        y=index("n", below="c"),
        n=(7, 1 << 16),
        c=(3, 10),
    ),
    _metric(
        "precision and recall",
        text="""
        t = count[i](p[i] > 0.5 and y[i])
        P = t/count[i](p[i] > 0.5)
        R = t/count[i](y[i])
        """,
        line="""
        t = ((p > 0.5) & y).sum()
        t / (p > 0.5).sum(), t / y.sum()
        """,
        p=unit("n"),
        y=truth("n"),
        n=(9, 1 << 20),
    ),
    _metric(
        "confusion matrix",
        text="C[y[i],p[i]] += 1",
        line="""
        C = np.zeros((4, 4), np.int64)
        np.add.at(C, (y, p), 1)
        C
        """,
        y=index("n", below=4),
        p=index("n", below=4),
        C=result(4, 4),
        n=(11, 1 << 16),
    ),
    _metric(
        "mean squared logarithmic error",
        text="E = mean[i]((log1p(y[i]) - log1p(p[i]))^2)",
        line="((np.log1p(y) - np.log1p(p)) ** 2).mean()",
        y=positive("n"),
        p=positive("n"),
        n=(9, 1 << 20),
    ),
    _metric(
        "r2_score",
        text="r = 1 - sum[i]((y[i]-p[i])^2)/sum[i]((y[i] - mean[k](y[k]))^2)",
        line="1 - ((y - p) ** 2).sum() / ((y - y.mean()) ** 2).sum()",
        y=real("n"),
        p=real("n"),
        n=(9, 1 << 20),
    ),
    _metric(
        "log loss of classes",
        text="L = -mean[i](log(max(P[i,y[i]], 1e-7)))",
        line="-np.log(np.maximum(P[np.arange(len(y)), y], 1e-7)).mean()",
        P=unit("n", "c"),
        y=index("n", below="c"),
        n=(7, 1 << 16),
        c=(3, 10),
    ),
    _metric(
        "mean absolute percentage error",
        text="E = mean[i](abs(y[i] - p[i])/max(abs(y[i]), 1e-6))",
        line="(np.abs(y - p) / np.maximum(np.abs(y), 1e-6)).mean()",
        y=real("n"),
        p=real("n"),
        n=(9, 1 << 20),
    ),
    _metric(
        "area under the curve, by pairs",
        text="""
        # how often a positive scores above a negative
        n = sum[i,j](where(y[i] and not y[j], (s[i] > s[j]) + 0.5*(s[i] == s[j]), 0))
        A = n/(count[i](y[i])*count[i](not y[i]))
        """,
        line="""
        a, b = s[y][:, None], s[~y]
        ((a > b) + 0.5 * (a == b)).mean()
        """,
        y=truth("n"),
        s=real("n"),
        n=(9, 1024),
    ),
    written(
        "ridge regression's gradient",
        SKLEARN + "sklearn.linear_model.Ridge",
        "g[j] = 2*X[i,j]*(sum[k](X[i,k]*w[k]) - y[i]) + 2*0.1*w[j]",
        "2 * X.T @ (X @ w - y) + 2 * 0.1 * w",
        X=real("n", "d"),
        w=real("d"),
        y=real("n"),
        n=(6, 4096),
        d=(3, 256),
    ),
    written(
        "logistic regression, its loss and gradient",
        BISHOP + "4.3",
        """
        z[i] = X[i,j]*w[j]
        out L = mean[i](log1p(exp(-t[i]*z[i])))
        g[j] = -mean[i](t[i]*X[i,j]*sigmoid(-t[i]*z[i]))
        """,
        """
        z = t * (X @ w)
        np.log1p(np.exp(-z)).mean(), -((t / (1 + np.exp(z))) @ X) / len(X)
        """,
        X=real("n", "d"),
        w=real("d"),
        t=real("n"),
        n=(6, 4096),
        d=(3, 256),
    ),
    written(
        "soft threshold of the lasso",
        "T. Hastie, R. Tibshirani and M. Wainwright, Statistical Learning with Sparsity, 2.4",
        "b[j] = sign(z[j])*max(abs(z[j]) - 0.3, 0)",
        "np.sign(z) * np.maximum(np.abs(z) - 0.3, 0)",
        z=real("n"),
        n=(9, 1 << 20),
    ),
    written(
        "naive Bayes, log probabilities of classes",
        SKLEARN + "sklearn.naive_bayes.MultinomialNB",
        """
        J[i,c] = X[i,w]*log(T[c,w]) + log(p[c])
        P[i,c] = J[i,c] - logsumexp[k](J[i,k])
        """,
        """
        J = X @ np.log(T).T + np.log(p)
        J - np.logaddexp.reduce(J, axis=1)[:, None]
        """,
        X=positive("n", "w"),
        T=unit("c", "w"),
        p=unit("c"),
        n=ROWS,
        w=(5, 512),
        c=(3, 20),
    ),
    written(
        "Gaussian process, its mean at new points",
        "C. Rasmussen and C. Williams, Gaussian Processes for Machine Learning, 2.2",
        "f[i] = sum[j](exp(-norm[k](X[i,k] - Z[j,k])^2/2)*a[j])",
        """
        D = ((X[:, None] - Z) ** 2).sum(axis=2)
        np.exp(-D / 2) @ a
        """,
        X=real("n", "d"),
        Z=real("m", "d"),
        a=real("m"),
        n=(6, 512),
        m=(5, 512),
        d=(3, 8),
    ),
    written(
        "term frequency, inverse document frequency",
        SKLEARN + "sklearn.feature_extraction.text.TfidfTransformer",
        """
        I[w] = log((1 + size(d))/(1 + count[d](X[d,w] > 0))) + 1
        T[d,w] = X[d,w]*I[w]
        Y[d,w] = T[d,w]/max(norm[v](T[d,v]), 1e-12)
        """,
        """
        I = np.log((1 + len(X)) / (1 + (X > 0).sum(axis=0))) + 1
        T = X * I
        T / np.maximum(np.linalg.norm(T, axis=1, keepdims=True), 1e-12)
        """,
        X=positive("n", "w"),
        n=ROWS,
        w=(5, 512),
    ),
)
