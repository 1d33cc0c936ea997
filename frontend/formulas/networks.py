"""Neural networks: layers and activations, as torch.nn.functional defines them."""

from __future__ import annotations

from functools import partial

from einderive.frontend.formulas.written import index, positive, real, result, truth, written

DOCS = "torch.nn.functional"
_layer = partial(written, source=DOCS)
_activation = partial(written, source=DOCS, X=real("n", "m"), n=(5, 1024), m=(4, 1024))

NETWORKS = (
    _activation(
        "softmax of rows",
        text="Y[i,k] = softmax[k](X[i,k])",
        line="torch.softmax(X, 1)",
    ),
    _activation(
        "log_softmax of rows",
        text="Y[i,k] = log_softmax[k](X[i,k])",
        line="torch.log_softmax(X, 1)",
    ),
    _activation(
        "softmax, written out",
        text="Y[i,k] = exp(X[i,k])/sum[j](exp(X[i,j]))",
        line="torch.softmax(X, 1)",
    ),
    _activation(
        "softmax with a temperature",
        text="Y[i,k] = softmax[k](X[i,k]/0.7)",
        line="torch.softmax(X / 0.7, 1)",
    ),
    _activation(
        "logsumexp",
        text="Y[i] = logsumexp[k](X[i,k])",
        line="torch.logsumexp(X, 1)",
    ),
    _activation("leaky_relu, by name", text="Y[i,j] = leaky_relu(X[i,j])", line="F.leaky_relu(X)"),
    _activation(
        "leaky_relu, by a condition",
        text="Y[i,j] = where(X[i,j] > 0, X[i,j], 0.1*X[i,j])",
        line="F.leaky_relu(X, 0.1)",
    ),
    _activation(
        "elu",
        text="Y[i,j] = where(X[i,j] > 0, X[i,j], exp(X[i,j]) - 1)",
        line="F.elu(X)",
    ),
    _activation("selu", text="Y[i,j] = selu(X[i,j])", line="F.selu(X)"),
    _activation("softplus, by name", text="Y[i,j] = softplus(X[i,j])", line="F.softplus(X)"),
    _activation("mish", text="Y[i,j] = X[i,j]*tanh(softplus(X[i,j]))", line="F.mish(X)"),
    _activation("hardswish, by name", text="Y[i,j] = hardswish(X[i,j])", line="F.hardswish(X)"),
    _activation("hardsigmoid", text="Y[i,j] = clip(X[i,j]/6 + 1/2, 0, 1)", line="F.hardsigmoid(X)"),
    _activation("hardtanh", text="Y[i,j] = min(max(X[i,j], -1), 1)", line="F.hardtanh(X)"),
    _activation("relu6", text="Y[i,j] = min(max(X[i,j], 0), 6)", line="F.relu6(X)"),
    _activation("logsigmoid", text="Y[i,j] = -log(1 + exp(-X[i,j]))", line="F.logsigmoid(X)"),
    _activation(
        "gelu with tanh",
        text="Y[i,j] = 0.5*X[i,j]*(1 + tanh(sqrt(2/pi)*(X[i,j] + 0.044715*X[i,j]^3)))",
        line='F.gelu(X, approximate="tanh")',
    ),
    _activation(
        "swiglu",
        text="Y[i,j] = silu(X[i,j])*X[i,j+m] where j in 0:m",
        line="F.silu(X[:, : X.shape[1] // 2]) * X[:, X.shape[1] // 2 :]",
        X=real("n", "2*m"),
        given="m",
    ),
    _activation(
        "threshold, by a condition",
        text="Y[i,j] = where(X[i,j] > 0.1, X[i,j], 20)",
        line="F.threshold(X, 0.1, 20)",
    ),
    _activation(
        "softshrink",
        text="Y[i,j] = where(X[i,j] > 0.5, X[i,j] - 0.5, where(X[i,j] < -0.5, X[i,j] + 0.5, 0))",
        line="F.softshrink(X)",
    ),
    _layer(
        "layer_norm, with its mean and variance",
        text="""
        M[b] = mean[k](X[b,k])
        V[b] = var[k](X[b,k])
        Y[b,k] = (X[b,k] - M[b])/sqrt(V[b] + 1e-5)*g[k] + h[k]
        """,
        line="F.layer_norm(X, g.shape, g, h)",
        X=real("n", "m"),
        g=real("m"),
        h=real("m"),
        n=(5, 1024),
        m=(4, 768),
    ),
    _layer(
        "rms_norm, with its mean",
        text="Y[...,k] = X[...,k]/sqrt(mean[l](X[...,l]^2) + 1e-6)*g[k]",
        line="F.rms_norm(X, g.shape, g, 1e-6)",
        X=real("b", "n", "m"),
        g=real("m"),
        b=(2, 8),
        n=(3, 128),
        m=(4, 768),
    ),
    _layer(
        "batch_norm, training",
        text="""
        M[c] = mean[b,h](X[b,c,h])
        V[c] = var[b,h](X[b,c,h])
        Y[b,c,h] = (X[b,c,h] - M[c])/sqrt(V[c] + 1e-5)*g[c] + k[c]
        """,
        line="F.batch_norm(X, None, None, g, k, training=True)",
        X=real("b", "c", "h"),
        g=real("c"),
        k=real("c"),
        b=(3, 32),
        c=(2, 64),
        h=(4, 256),
    ),
    _layer(
        "group_norm",
        text="""
        M[b,g] = mean[c,h](X[b,g,c,h])
        S[b,g] = std[c,h](X[b,g,c,h])
        Y[b,g,c,h] = (X[b,g,c,h] - M[b,g])/S[b,g]
        """,
        line="F.group_norm(X.flatten(1, 2), X.shape[1], eps=0).view_as(X)",
        X=real("b", "g", "c", "h"),
        b=(2, 16),
        g=(2, 8),
        c=(3, 8),
        h=(4, 256),
    ),
    _layer(
        "embedding",
        text="Y[b,t,d] = E[I[b,t],d]",
        line="F.embedding(I, E)",
        E=real("v", "d"),
        I=index("b", "t", below="v"),
        v=(7, 4096),
        d=(3, 256),
        b=(2, 8),
        t=(4, 128),
    ),
    _layer(
        "embedding with positions",
        text="Y[b,t,d] = E[I[b,t],d] + P[t,d]",
        line="F.embedding(I, E) + P",
        E=real("v", "d"),
        I=index("b", "t", below="v"),
        P=real("t", "d"),
        v=(7, 4096),
        d=(3, 256),
        b=(2, 8),
        t=(4, 128),
    ),
    _layer(
        "embedding_bag, mean",
        text="Y[b,d] = mean[t](E[I[b,t],d])",
        line='F.embedding_bag(I, E, mode="mean")',
        E=real("v", "d"),
        I=index("b", "t", below="v"),
        v=(7, 4096),
        d=(3, 128),
        b=(2, 256),
        t=(4, 16),
    ),
    _layer(
        "sinusoidal positions",
        source="A. Vaswani et al., Attention Is All You Need, 3.5",
        text="""
        Y[t,j] = X[t,j] + where(j%2 == 0, sin(t/10000^(j/d)), cos(t/10000^((j-1)/d)))
        """,
        line="""
        t = torch.arange(X.shape[0])[:, None]
        j = torch.arange(X.shape[1])
        angle = t / 10000 ** ((j - j % 2) / X.shape[1])
        X + torch.where(j % 2 == 0, angle.sin(), angle.cos())
        """,
        X=real("t", "d"),
        t=(5, 2048),
        d=(6, 512),
        given="d",
    ),
    _layer(
        "attention, causal",
        text="""
        S[h,i,j] = Q[h,i,d]*K[h,j,d]/sqrt(size(d))
        P[h,i,j] = softmax[j](where(j <= i, S[h,i,j], -inf))
        Y[h,i,e] = P[h,i,j]*V[h,j,e]
        """,
        line="F.scaled_dot_product_attention(Q, K, V, is_causal=True)",
        Q=real("h", "t", "d"),
        K=real("h", "t", "d"),
        V=real("h", "t", "d"),
        h=(2, 8),
        t=(5, 256),
        d=(4, 64),
    ),
    _layer(
        "attention with linear biases",
        source="O. Press, N. Smith and M. Lewis, Train Short, Test Long, ICLR 2022",
        text="""
        S[h,i,j] = Q[h,i,d]*K[h,j,d]/sqrt(size(d)) - m[h]*(i - j)
        P[h,i,j] = softmax[j](where(j <= i, S[h,i,j], -inf))
        Y[h,i,e] = P[h,i,j]*V[h,j,e]
        """,
        line="""
        i = torch.arange(Q.shape[1], dtype=Q.dtype)
        bias = (m[:, None, None] * (i - i[:, None])).tril()
        bias = bias.masked_fill(i > i[:, None], -torch.inf)
        F.scaled_dot_product_attention(Q, K, V, attn_mask=bias)
        """,
        Q=real("h", "t", "d"),
        K=real("h", "t", "d"),
        m=positive("h"),
        V=real("h", "t", "d"),
        h=(2, 8),
        t=(5, 256),
        d=(4, 64),
    ),
    _layer(
        "attention with a mask of padding",
        text="""
        S[b,i,j] = where(M[b,j], sum[d](Q[b,i,d]*K[b,j,d])/8, -1e9)
        Y[b,i,e] = softmax[j](S[b,i,j])*V[b,j,e]
        """,
        line="F.scaled_dot_product_attention(Q, K, V, attn_mask=M[:, None], scale=1 / 8)",
        M=truth("b", "t"),
        Q=real("b", "t", "d"),
        K=real("b", "t", "d"),
        V=real("b", "t", "d"),
        b=(2, 8),
        t=(5, 256),
        d=(4, 64),
    ),
    _layer(
        "rotary positions",
        source="J. Su et al., RoFormer, 3.4",
        text="""
        Y[t,d] = where(d < D, X[t,d]*C[t,d%D] - X[t,d+D]*S[t,d%D],
                              X[t,d]*C[t,d%D] + X[t,d-D]*S[t,d%D])
        """,
        line="""
        a, b = X.chunk(2, dim=1)
        torch.cat((a * C - b * S, b * C + a * S), dim=1)
        """,
        X=real("t", "2*D"),
        C=real("t", "D"),
        S=real("t", "D"),
        t=(5, 4096),
        D=(3, 64),
        given="D",
    ),
    _layer(
        "convolution with bias and relu",
        text="Y[b,f,h,w] = max(sum[c,r,s](X[b,c,h+r-1,w+s-1]*K[f,c,r,s]) + B[f], 0)",
        line="F.relu(F.conv2d(X, K, B, padding=1))",
        X=real("b", "c", "h", "w"),
        K=real("f", "c", 3, 3),
        B=real("f"),
        Y=result("b", "f", "h", "w"),
        b=(2, 4),
        c=(2, 16),
        h=(4, 56),
        w=(5, 56),
        f=(3, 32),
    ),
    _layer(
        "average pooling",
        text="""
        Y[b,c,h,w] = mean[r,s](X[b,c,2*h+r,2*w+s])
            where h in 0:H, w in 0:W, r in 0:2, s in 0:2
        """,
        line="F.avg_pool2d(X, 2)",
        X=real("b", "c", "2*H", "2*W"),
        b=(2, 8),
        c=(2, 32),
        H=(3, 56),
        W=(2, 56),
        given="H W",
    ),
    _layer(
        "global average pooling",
        text="Y[b,c] = mean[h,w](X[b,c,h,w])",
        line="X.mean((2, 3))",
        X=real("b", "c", "h", "w"),
        b=(2, 8),
        c=(2, 256),
        h=(3, 28),
        w=(4, 28),
    ),
    _layer(
        "squeeze and excitation",
        source="J. Hu, L. Shen and G. Sun, Squeeze-and-Excitation Networks, 3",
        text="""
        z[b,c] = mean[h,w](X[b,c,h,w])
        s[b,r] = relu(sum[c](W[r,c]*z[b,c]))
        g[b,c] = sigmoid(sum[r](U[c,r]*s[b,r]))
        Y[b,c,h,w] = X[b,c,h,w]*g[b,c]
        """,
        line="""
        z = X.mean((2, 3))
        g = torch.sigmoid(torch.relu(z @ W.T) @ U.T)
        X * g[:, :, None, None]
        """,
        X=real("b", "c", "h", "w"),
        W=real("r", "c"),
        U=real("c", "r"),
        b=(2, 8),
        c=(4, 64),
        r=(2, 8),
        h=(3, 28),
        w=(4, 28),
    ),
)
