"""Losses of neural networks, as torch.nn.functional defines them, and steps of training."""

from __future__ import annotations

from functools import partial

from einderive.frontend.formulas.written import index, positive, real, truth, unit, written

_training = partial(written, source="torch.nn.functional")
_loss = partial(_training, n=(5, 4096), c=(4, 128))

TRAINING = (
    _loss(
        "cross_entropy, class numbers",
        text="""
        P[i,k] = log_softmax[k](X[i,k])
        L = -mean[i](P[i,y[i]])
        """,
        line="F.cross_entropy(X, y)",
        X=real("n", "c"),
        y=index("n", below="c"),
    ),
    _loss(
        "cross_entropy, by logsumexp",
        text="L = mean[i](logsumexp[k](X[i,k]) - X[i,y[i]])",
        line="F.cross_entropy(X, y)",
        X=real("n", "c"),
        y=index("n", below="c"),
    ),
    _loss(
        "binary_cross_entropy",
        text="L = -mean[i,j](y[i,j]*log(p[i,j]) + (1 - y[i,j])*log(1 - p[i,j]))",
        line="F.binary_cross_entropy(p, y)",
        y=unit("n", "c"),
        p=unit("n", "c"),
    ),
    _loss(
        "binary_cross_entropy_with_logits",
        text="L = mean[i,j](max(z[i,j], 0) - z[i,j]*y[i,j] + log1p(exp(-abs(z[i,j]))))",
        line="F.binary_cross_entropy_with_logits(z, y)",
        z=real("n", "c"),
        y=unit("n", "c"),
    ),
    _loss(
        "huber_loss",
        text="""
        e[i,j] = abs(X[i,j] - Z[i,j])
        L = mean[i,j](where(e[i,j] < 1, 0.5*e[i,j]^2, e[i,j] - 0.5))
        """,
        line="F.huber_loss(X, Z)",
        X=real("n", "c"),
        Z=real("n", "c"),
    ),
    _loss(
        "mse_loss, by mean",
        text="L = mean[i,j]((X[i,j] - Z[i,j])^2)",
        line="F.mse_loss(X, Z)",
        X=real("n", "c"),
        Z=real("n", "c"),
    ),
    _loss(
        "kl_div",
        text="L = sum[i,j](P[i,j]*(log(P[i,j]) - Q[i,j]))/size(i)",
        line='F.kl_div(Q, P, reduction="batchmean")',
        P=unit("n", "c"),
        Q=real("n", "c"),
    ),
    _loss(
        "hinge_embedding_loss",
        text="L = mean[i](where(y[i] == 1, x[i], max(0, 1 - x[i])))",
        line="F.hinge_embedding_loss(x, 2 * y - 1)",
        y=index("n", below=2),
        x=real("n"),
    ),
    _loss(
        "triplet_margin_loss",
        text="""
        p[i] = norm[k](A[i,k] - P[i,k] + 1e-6)
        q[i] = norm[k](A[i,k] - N[i,k] + 1e-6)
        L = mean[i](max(p[i] - q[i] + 1, 0))
        """,
        line="F.triplet_margin_loss(A, P, N)",
        A=real("n", "c"),
        P=real("n", "c"),
        N=real("n", "c"),
    ),
    _loss(
        "focal loss",
        source="T. Lin et al., Focal Loss for Dense Object Detection, 3",
        text="""
        q[i] = where(y[i], p[i], 1 - p[i])
        L = mean[i](-(1 - q[i])^2*log(q[i]))
        """,
        line="""
        q = torch.where(y, p, 1 - p)
        (-((1 - q) ** 2) * q.log()).mean()
        """,
        y=truth("n"),
        p=unit("n"),
    ),
    _loss(
        "contrastive loss of pairs",
        source="A. Radford et al., Learning Transferable Visual Models, figure 3",
        text="""
        S[i,j] = A[i,k]*B[j,k]/(norm[c](A[i,c])*norm[c](B[j,c]))/0.07
        L = -mean[i](S[i,i] - logsumexp[j](S[i,j]))
        """,
        line="""
        S = F.normalize(A) @ F.normalize(B).T / 0.07
        F.cross_entropy(S, torch.arange(len(S)))
        """,
        A=real("n", "c"),
        B=real("n", "c"),
        n=(5, 512),
    ),
    _training(
        "Adam's step",
        source="D. Kingma and J. Ba, Adam, algorithm 1",
        text="""
        out M[i] = 0.9*m[i] + 0.1*g[i]
        out V[i] = 0.999*v[i] + 0.001*g[i]^2
        W[i] = w[i] - 0.001*M[i]/(1 - 0.9^10)/(sqrt(V[i]/(1 - 0.999^10)) + 1e-8)
        """,
        line="""
        M = 0.9 * m + 0.1 * g
        V = 0.999 * v + 0.001 * g**2
        M, V, w - 0.001 * M / (1 - 0.9**10) / (torch.sqrt(V / (1 - 0.999**10)) + 1e-8)
        """,
        m=real("n"),
        g=real("n"),
        v=positive("n"),
        w=real("n"),
        n=(9, 1 << 20),
    ),
    _training(
        "gradient clipped by its norm",
        source="torch.nn.utils.clip_grad_norm_",
        text="Y[i,j] = g[i,j]*min(1, 0.5/(norm[k,l](g[k,l]) + 1e-6))",
        line="g * torch.clamp(0.5 / (torch.linalg.norm(g) + 1e-6), max=1)",
        g=real("n", "m"),
        n=(5, 1024),
        m=(4, 1024),
    ),
)
