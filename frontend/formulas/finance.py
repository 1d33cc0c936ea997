"""Finance: options, returns, risk."""

from __future__ import annotations

from einderive.frontend.formulas.written import positive, real, unit, written

HULL = "J. Hull, Options, Futures, and Other Derivatives, "
MEUCCI = "A. Meucci, Risk and Asset Allocation, "
CASES = (6, 1 << 18)
DAYS, ASSETS = (7, 2048), (3, 128)

FINANCE = (
    written(
        "Black-Scholes call",
        HULL + "15.8",
        """
        d[i] = (log(S[i]/K[i]) + (0.03 + v[i]^2/2)*T[i])/(v[i]*sqrt(T[i]))
        e[i] = d[i] - v[i]*sqrt(T[i])
        N[i] = 0.5*(1 + erf(d[i]/sqrt(2)))
        M[i] = 0.5*(1 + erf(e[i]/sqrt(2)))
        C[i] = S[i]*N[i] - K[i]*exp(-0.03*T[i])*M[i]
        """,
        """
        d = (torch.log(S / K) + (0.03 + v**2 / 2) * T) / (v * T.sqrt())
        e = d - v * T.sqrt()
        S * torch.special.ndtr(d) - K * torch.exp(-0.03 * T) * torch.special.ndtr(e)
        """,
        S=positive("n"),
        K=positive("n"),
        v=positive("n"),
        T=positive("n"),
        n=CASES,
    ),
    written(
        "simple and logarithmic returns",
        "pandas documentation, DataFrame.pct_change",
        """
        R[t,a] = P[t+1,a]/P[t,a] - 1 where t in 0:n-1
        L[t,a] = log(P[t+1,a]/P[t,a]) where t in 0:n-1
        """,
        "P[1:] / P[:-1] - 1, np.diff(np.log(P), axis=0)",
        P=positive("n", "a"),
        n=DAYS,
        a=ASSETS,
        given="n",
    ),
    written(
        "portfolio variance",
        "H. Markowitz, Portfolio Selection, Journal of Finance 1952",
        """
        C[t,a] = R[t,a] - mean[s](R[s,a])
        S[a,b] = C[t,a]*C[t,b]/(size(t) - 1)
        V[p] = W[p,a]*S[a,b]*W[p,b]
        """,
        "np.einsum('pa,ab,pb->p', W, np.cov(R, rowvar=False), W, optimize=True)",
        R=real("t", "a"),
        W=real("p", "a"),
        t=DAYS,
        a=ASSETS,
        p=(4, 64),
    ),
    written(
        "Sharpe ratio",
        "W. Sharpe, The Sharpe Ratio, Journal of Portfolio Management 1994",
        "S[a] = sqrt(252)*mean[t](R[t,a])/std[t](R[t,a], ddof=1)",
        "np.sqrt(252) * R.mean(axis=0) / R.std(axis=0, ddof=1)",
        R=real("t", "a"),
        t=DAYS,
        a=ASSETS,
    ),
    written(
        "downside deviation",
        "F. Sortino and L. Price, Journal of Investing 1994",
        "D[a] = sqrt(mean[t](min(R[t,a], 0)^2))",
        "np.sqrt((np.minimum(R, 0) ** 2).mean(axis=0))",
        R=real("t", "a"),
        t=DAYS,
        a=ASSETS,
    ),
    written(
        "beta to a market",
        HULL + "3.5",
        """
        m = mean[t](M[t])
        b[a] = sum[t]((R[t,a] - mean[s](R[s,a]))*(M[t] - m)) / sum[t]((M[t] - m)^2)
        """,
        """
        c = M - M.mean()
        c @ (R - R.mean(axis=0)) / (c @ c)
        """,
        M=real("t"),
        R=real("t", "a"),
        t=DAYS,
        a=ASSETS,
    ),
    written(
        "present value of cash flows",
        HULL + "4.4",
        "V[b] = sum[t](C[b,t]/(1 + y[b])^(t+1))",
        "(C / (1 + y[:, None]) ** (np.arange(C.shape[1]) + 1)).sum(axis=1)",
        C=positive("b", "t"),
        y=unit("b"),
        b=(4, 4096),
        t=(5, 60),
    ),
    written(
        "bond duration, continuous compounding",
        HULL + "4.8",
        """
        B[b] = sum[t](C[b,t]*exp(-y[b]*0.5*(t+1)))
        D[b] = sum[t](0.5*(t+1)*C[b,t]*exp(-y[b]*0.5*(t+1)))/B[b]
        """,
        """
        t = 0.5 * (np.arange(C.shape[1], dtype=C.dtype) + 1)
        W = C * np.exp(-y[:, None] * t)
        (t * W).sum(axis=1) / W.sum(axis=1)
        """,
        C=positive("b", "t"),
        y=unit("b"),
        b=(4, 4096),
        t=(5, 60),
    ),
    written(
        "Monte Carlo price of a basket call",
        HULL + "21.6",
        """
        S[p] = w[a]*exp(Z[p,a])
        C = exp(-0.03)*mean[p](max(S[p] - K, 0))
        """,
        "np.exp(-0.03) * np.maximum(np.exp(Z) @ w - K, 0).mean()",
        w=unit("a"),
        Z=real("p", "a"),
        K=positive(),
        p=(7, 1 << 15),
        a=(3, 16),
    ),
    written(
        "moving average crossover",
        "pandas documentation, DataFrame.rolling",
        """
        F[t] = mean[r](P[t+r+6]) where t in 0:n-9, r in 0:4
        G[t] = mean[r](P[t+r]) where t in 0:n-9, r in 0:10
        B[t] = F[t] > G[t]
        """,
        """
        window = np.lib.stride_tricks.sliding_window_view
        window(P, 4)[6:].mean(axis=1) > window(P, 10).mean(axis=1)
        """,
        P=positive("n"),
        n=(14, 1 << 18),
        given="n",
    ),
    written(
        "historical volatility of a window",
        HULL + "15.4",
        "V[t] = std[r](R[t+r], ddof=1)*sqrt(252) where t in 0:n-19, r in 0:20",
        """
        windows = np.lib.stride_tricks.sliding_window_view(R, 20)
        windows.std(axis=1, ddof=1) * np.sqrt(252)
        """,
        R=real("n"),
        n=(24, 1 << 15),
        given="n",
    ),
    written(
        "exceedances of a value at risk",
        MEUCCI + "5.5",
        """
        out E[a] = mean[t](R[t,a] < -q[a])
        # the mean of what lies beyond
        T[a] = sum[t](where(R[t,a] < -q[a], R[t,a], 0))/max(count[t](R[t,a] < -q[a]), 1)
        """,
        """
        B = R < -q
        B.mean(axis=0), np.where(B, R, 0).sum(axis=0) / np.maximum(B.sum(axis=0), 1)
        """,
        R=real("t", "a"),
        q=unit("a"),
        t=DAYS,
        a=ASSETS,
    ),
    written(
        "binomial tree, one step back for an American put",
        HULL + "13.5",
        """
        W[i] = max(K - S[i], exp(-0.01)*(0.55*V[i] + 0.45*V[i+1])) where i in 0:n
        """,
        "np.maximum(K - S, np.exp(-0.01) * (0.55 * V[:-1] + 0.45 * V[1:]))",
        K=positive(),
        S=positive("n"),
        V=positive("n+1"),
        n=CASES,
        given="n",
    ),
    written(
        "momentum, a rank within each day",
        "N. Jegadeesh and S. Titman, Journal of Finance 1993",
        "Q[t,a] = count[b](R[t,b] < R[t,a])/(size(a) - 1)",
        "(R[:, None] < R[..., None]).sum(axis=2) / (R.shape[1] - 1)",
        R=real("t", "a"),
        t=(5, 256),
        a=(4, 64),
    ),
)
