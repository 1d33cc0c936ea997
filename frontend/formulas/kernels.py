"""Kernels of PolyBench/C 4.2.1 and NPBench, with named sizes, as their sources name them."""

from __future__ import annotations

from functools import partial

from einderive.frontend.formulas.written import index, ordered, positive, real, unit, written

_poly = partial(written, source="PolyBench/C 4.2.1", n=(6, 512))
_npbench = partial(written, source="NPBench")

KERNELS = (
    _poly(
        "jacobi-2d",
        text="""
        B[i,j] = 0.2*(A[i+1,j+1] + A[i+1,j] + A[i+1,j+2] + A[i+2,j+1] + A[i,j+1])
            where i in 0:n-2, j in 0:n-2
        """,
        line="0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])",
        A=real("n", "n"),
        given="n",
    ),
    _poly(
        "jacobi-2d, keeping the border",
        text="""
        B[i,j] = where(0 < i < n-1 and 0 < j < n-1,
                       0.2*(A[i,j] + A[i,j-1] + A[i,j+1] + A[i+1,j] + A[i-1,j]),
                       A[i,j]) where i in 0:n, j in 0:n
        """,
        line="""
        B = A.copy()
        S = A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1]
        B[1:-1, 1:-1] = 0.2 * S
        B
        """,
        A=real("n", "n"),
        given="n",
    ),
    _poly(
        "trmm",
        text="C[i,j] = 1.5*(B[i,j] + sum[k](where(k > i, A[k,i]*B[k,j], 0)))",
        line="1.5 * (np.tril(A, -1).T @ B + B)",
        B=real("n", "n"),
        A=real("n", "n"),
    ),
    _poly(
        "symm",
        text="C[i,j] = 1.5*sum[k](where(k <= i, A[i,k], A[k,i])*B[k,j]) + 1.2*D[i,j]",
        line="1.5 * (np.tril(A) + np.tril(A, -1).T) @ B + 1.2 * D",
        A=real("n", "n"),
        B=real("n", "n"),
        D=real("n", "n"),
    ),
    _poly(
        "correlation",
        text="""
        # as in the source: small deviations count as 1
        m[j] = mean[i](X[i,j])
        s[j] = std[i](X[i,j])
        t[j] = where(s[j] <= 0.1, 1, s[j])
        Z[i,j] = (X[i,j] - m[j])/(sqrt(n)*t[j])
        C[j,k] = Z[i,j]*Z[i,k]
        """,
        line="""
        s = X.std(axis=0)
        Z = (X - X.mean(axis=0)) / (np.sqrt(len(X)) * np.where(s <= 0.1, 1, s))
        Z.T @ Z
        """,
        X=real("n", "n"),
        given="n",
    ),
    _poly(
        "syr2k, lower part",
        text="""
        S[i,j] = A[i,k]*B[j,k] + B[i,k]*A[j,k]
        C[i,j] = where(j <= i, 1.5*S[i,j] + 1.2*D[i,j], D[i,j])
        """,
        line="np.where(np.tri(len(A), dtype=bool), 1.5 * (A @ B.T + B @ A.T) + 1.2 * D, D)",
        A=real("n", "n"),
        B=real("n", "n"),
        D=real("n", "n"),
    ),
    _poly(
        "fdtd-2d, electric fields",
        text="""
        P[i,j] = ey[i,j] - 0.5*(hz[i,j] - hz[i-1,j])*(i > 0)
        Q[i,j] = ex[i,j] - 0.5*(hz[i,j] - hz[i,j-1])*(j > 0)
        """,
        line="""
        P, Q = ey.copy(), ex.copy()
        P[1:] -= 0.5 * np.diff(hz, axis=0)
        Q[:, 1:] -= 0.5 * np.diff(hz, axis=1)
        P, Q
        """,
        ey=real("n", "n"),
        hz=real("n", "n"),
        ex=real("n", "n"),
    ),
    _poly(
        "floyd-warshall, one step of k",
        text="P[i,j] = min(D[i,j], D[i,0] + D[0,j])",
        line="np.minimum(D, D[:, :1] + D[:1])",
        D=positive("n", "n"),
    ),
    _poly(
        "doitgen, three dimensions",
        text="B[r,q,p] = A[r,q,s]*C[s,p]",
        line="np.einsum('rqs,sp->rqp', A, C)",
        A=real("m", "q", "n"),
        C=real("n", "n"),
        m=(3, 16),
        q=(4, 32),
    ),
    _poly(
        "gramschmidt, the first column taken from the others",
        text="""
        q[i] = A[i,0]/norm[k](A[k,0])
        r[j] = q[i]*A[i,j]
        B[i,j] = A[i,j] - q[i]*r[j]
        """,
        line="""
        q = A[:, 0] / np.linalg.norm(A[:, 0])
        A - np.outer(q, q @ A)
        """,
        A=real("n", "n"),
    ),
    _npbench(
        "azimint_naive, one bin",
        text="""
        m[b] = sum[i](where(b <= 4*r[i] and 4*r[i] < b+1, d[i], 0))
               / count[i](b <= 4*r[i] and 4*r[i] < b+1) where b in 0:4
        """,
        line="""
        b = (4 * r).astype(np.int64)
        np.bincount(b, weights=d, minlength=4) / np.bincount(b, minlength=4)
        """,
        r=unit("n").then(ordered),
        d=real("n"),
        n=(60, 1 << 18),
    ),
    _npbench(
        "mandelbrot1, one step where it has not left",
        text="""
        k[i,j] = x[i,j]^2 + y[i,j]^2 < 4
        U[i,j] = where(k[i,j], x[i,j]^2 - y[i,j]^2 + a[j], x[i,j])
        V[i,j] = where(k[i,j], 2*x[i,j]*y[i,j] + b[i], y[i,j])
        """,
        line="""
        k = x**2 + y**2 < 4
        np.where(k, x**2 - y**2 + a, x), np.where(k, 2 * x * y + b[:, None], y)
        """,
        x=real("n", "m"),
        y=real("n", "m"),
        a=real("m"),
        b=real("n"),
        n=(5, 1024),
        m=(4, 1024),
    ),
    _npbench(
        "spmv, rows of one length",
        text="y[i] = A[i,k]*x[c[i,k]]",
        line="(A * x[c]).sum(axis=1)",
        A=real("n", 8),
        x=real("m"),
        c=index("n", 8, below="m"),
        n=(5, 1 << 15),
        m=(7, 1 << 14),
    ),
    _npbench(
        "arc_distance",
        text="""
        t[i] = sin((a[i]-b[i])/2)^2 + cos(a[i])*cos(b[i])*sin((c[i]-d[i])/2)^2
        D[i] = 2*atan2(sqrt(t[i]), sqrt(1 - t[i]))
        """,
        line="""
        t = np.sin((a - b) / 2) ** 2 + np.cos(a) * np.cos(b) * np.sin((c - d) / 2) ** 2
        2 * np.arctan2(np.sqrt(t), np.sqrt(1 - t))
        """,
        a=unit("n"),
        b=unit("n"),
        c=unit("n"),
        d=unit("n"),
        n=(9, 1 << 18),
    ),
    _npbench(
        "hdiff, the flux along a row with its limiter",
        text="""
        L[i,j] = 4*A[i+1,j+1] - (A[i+2,j+1] + A[i,j+1] + A[i+1,j+2] + A[i+1,j])
            where i in 0:n-2, j in 0:n-2
        R[i,j] = L[i,j+1] - L[i,j] where i in 0:n-2, j in 0:n-3
        F[i,j] = where(R[i,j]*(A[i+1,j+2] - A[i+1,j+1]) > 0, 0, R[i,j])
        """,
        line="""
        L = 4 * A[1:-1, 1:-1] - (A[2:, 1:-1] + A[:-2, 1:-1] + A[1:-1, 2:] + A[1:-1, :-2])
        R = np.diff(L, axis=1)
        np.where(R * (A[1:-1, 2:-1] - A[1:-1, 1:-2]) > 0, 0, R)
        """,
        A=real("n", "n"),
        n=(7, 1024),
        given="n",
    ),
)
