"""Graphs, sparse matrices, tables: gathers, scatters, groups."""

from __future__ import annotations

from einderive.frontend.formulas.written import (
    index,
    looped,
    positive,
    real,
    result,
    truth,
    unit,
    written,
)

NODES, EDGES, WIDTH = (5, 4096), (9, 1 << 15), (3, 64)
PYG = "PyTorch Geometric documentation, "
PANDAS = "pandas documentation, "

GRAPHS = (
    written(
        "degrees",
        PYG + "utils.degree",
        "D[dst[e]] += 1",
        "np.bincount(dst, minlength=5)",
        dst=index("e", below=5),
        D=result(5),
        e=EDGES,
    ),
    written(
        "sum of messages",
        PYG + "MessagePassing, aggr add",
        "Y[dst[e],d] += X[src[e],d]",
        "torch.zeros_like(X).index_add(0, dst, X[src])",
        dst=index("e", below="n"),
        src=index("e", below="n"),
        X=real("n", "d"),
        Y=result("n", "d"),
        n=NODES,
        e=EDGES,
        d=WIDTH,
    ),
    written(
        "weighted messages",
        PYG + "nn.GraphConv",
        "Y[dst[e],d] += w[e]*X[src[e],d]",
        "torch.zeros_like(X).index_add(0, dst, w[:, None] * X[src])",
        dst=index("e", below="n"),
        w=real("e"),
        src=index("e", below="n"),
        X=real("n", "d"),
        Y=result("n", "d"),
        n=NODES,
        e=EDGES,
        d=WIDTH,
    ),
    written(
        "mean of the neighbours",
        PYG + "nn.SAGEConv",
        """
        S[dst[e],d] += X[src[e],d]
        N[dst[e]] += 1
        Y[n,d] = S[n,d]/max(N[n], 1)
        """,
        """
        S = torch.zeros_like(X).index_add(0, dst, X[src])
        S / torch.bincount(dst, minlength=len(X)).clamp(min=1)[:, None]
        """,
        dst=index("e", below="n"),
        X=real("n", "d"),
        src=index("e", below="n"),
        S=result("n", "d"),
        N=result("n"),
        n=NODES,
        e=EDGES,
        d=WIDTH,
    ),
    written(
        "graph convolution of a dense adjacency",
        "T. Kipf and M. Welling, Semi-Supervised Classification with GCNs, 2",
        """
        B[i,j] = A[i,j] + (i == j)                 # self loops
        D[i] = sum[j](B[i,j])
        Y[i,o] = relu(sum[j,k](B[i,j]/sqrt(D[i]*D[j])*X[j,k]*W[k,o]))
        """,
        """
        B = A + torch.eye(len(A), dtype=A.dtype)
        s = B.sum(1).rsqrt()
        torch.relu(s[:, None] * (B @ (s[:, None] * (X @ W))))
        """,
        A=unit("n", "n"),
        X=real("n", "k"),
        W=real("k", "o"),
        n=(5, 512),
        k=(4, 128),
        o=(3, 32),
    ),
    written(
        "PageRank, one step",
        "NetworkX documentation, pagerank",
        """
        D[j] = A[j,k]
        y[i] = 0.85*sum[j](A[j,i]*x[j]/D[j]) + 0.15/size(i)
        """,
        "0.85 * (x / A.sum(axis=1)) @ A + 0.15 / len(A)",
        A=positive("n", "n"),
        x=unit("n"),
        n=(5, 1024),
    ),
    written(
        "shortest paths, one relaxation",
        "T. Cormen et al., Introduction to Algorithms, 25.1",
        "E[i,j] = min(D[i,j], min[k](D[i,k] + W[k,j]))",
        "np.minimum(D, (D[:, :, None] + W).min(axis=1))",
        D=positive("n", "n"),
        W=positive("n", "n"),
        n=(5, 128),
    ),
    written(
        "paths that exist, one step",
        "T. Cormen et al., Introduction to Algorithms, 25.2",
        "R[i,j] = A[i,j] or any[k](A[i,k] and A[k,j])",
        "A | (A.astype(np.float32) @ A.astype(np.float32) > 0)",
        A=truth("n", "n"),
        n=(5, 256),
    ),
    written(
        "triangles",
        "NetworkX documentation, triangles",
        "T = A[i,j]*A[j,k]*A[k,i]/6",
        "np.sum((A @ A) * A.T) / 6",
        A=unit("n", "n"),
        n=(5, 512),
    ),
    written(
        "Laplacian's quadratic form",
        "F. Chung, Spectral Graph Theory, 1.2",
        "Q = sum[e](w[e]*(x[src[e]] - x[dst[e]])^2)",
        "(w * (x[src] - x[dst]) ** 2).sum()",
        w=positive("e"),
        x=real("n"),
        src=index("e", below="n"),
        dst=index("e", below="n"),
        n=NODES,
        e=EDGES,
    ),
    written(
        "scores of edges",
        PYG + "nn.GAE, the inner product decoder",
        "s[e] = sigmoid(sum[d](Z[src[e],d]*Z[dst[e],d]))",
        "torch.sigmoid((Z[src] * Z[dst]).sum(1))",
        Z=real("n", "d"),
        src=index("e", below="n"),
        dst=index("e", below="n"),
        n=NODES,
        e=EDGES,
        d=WIDTH,
    ),
    written(
        "attention over a dense neighbourhood",
        "P. Velickovic et al., Graph Attention Networks, 2.1",
        """
        S[i,j] = leaky_relu(a[i] + b[j], 0.2)
        P[i,j] = softmax[j](where(A[i,j] > 0.5, S[i,j], -inf))
        Y[i,d] = P[i,j]*X[j,d]
        """,
        """
        S = F.leaky_relu(a[:, None] + b, 0.2).masked_fill(A <= 0.5, -torch.inf)
        torch.softmax(S, 1) @ X
        """,
        a=real("n"),
        b=real("n"),
        A=unit("n", "n").then(looped),
        X=real("n", "d"),
        n=(5, 512),
        d=WIDTH,
    ),
    written(
        "sparse matrix in coordinates, times a vector",
        "SciPy documentation, scipy.sparse.coo_matrix",
        "y[row[e]] += v[e]*x[col[e]]",
        "np.bincount(row, weights=v * x[col], minlength=len(x))",
        row=index("e", below="n"),
        v=real("e"),
        x=real("n"),
        col=index("e", below="n"),
        y=result("n"),
        n=NODES,
        e=EDGES,
    ),
    written(
        "sparse matrix with rows of one length, times a matrix",
        "SciPy documentation, scipy.sparse.bsr_matrix; the ELLPACK format",
        "Y[i,d] = V[i,e]*X[C[i,e],d]",
        "np.einsum('ie,ied->id', V, X[C])",
        V=real("n", 4),
        X=real("m", "d"),
        C=index("n", 4, below="m"),
        n=(5, 4096),
        m=(6, 2048),
        d=(3, 32),
    ),
    written(
        "sums of groups",
        PANDAS + "GroupBy.sum",
        "S[g[i],c] += X[i,c]",
        """
        S = np.zeros((6, X.shape[1]), X.dtype)
        np.add.at(S, g, X)
        S
        """,
        g=index("n", below=6),
        X=real("n", "c"),
        S=result(6, "c"),
        n=(9, 1 << 15),
        c=(3, 16),
    ),
    written(
        "means of groups, taken away",
        PANDAS + "GroupBy.transform",
        """
        S[g[i]] += x[i]
        N[g[i]] += 1
        y[i] = x[i] - S[g[i]]/N[g[i]]
        """,
        "x - (np.bincount(g, weights=x) / np.bincount(g))[g]",
        g=index("n", below=6),
        x=real("n"),
        S=result(6),
        N=result(6),
        n=(9, 1 << 18),
    ),
    written(
        "joined by a key",
        PANDAS + "merge, with unique keys 0, 1, ...",
        "total[i] = q[i]*price[product[i]]",
        "q * price[product]",
        q=positive("n"),
        price=positive("m"),
        product=index("n", below="m"),
        n=(9, 1 << 20),
        m=(5, 1024),
    ),
    written(
        "filtered sum",
        "TPC-H, query 6",
        """
        revenue = sum[i](where(date[i] >= 3 and date[i] < 7
                               and discount[i] >= 0.05 and discount[i] <= 0.7
                               and quantity[i] < 1.5, price[i]*discount[i], 0))
        """,
        """
        keep = (date >= 3) & (date < 7) & (discount >= 0.05) & (discount <= 0.7)
        (price * discount)[keep & (quantity < 1.5)].sum()
        """,
        date=index("n", below=10),
        discount=unit("n"),
        quantity=positive("n"),
        price=positive("n"),
        n=(11, 1 << 20),
    ),
    written(
        "rows permuted",
        "NumPy documentation, indexing with an array",
        "Y[i,j] = X[p[i],j]",
        "X[p]",
        X=real("n", "d"),
        p=index("n", below="n"),
        n=NODES,
        d=WIDTH,
    ),
    written(
        "labels spread, one step",
        "X. Zhu and Z. Ghahramani, Learning from Labeled and Unlabeled Data, 2.2",
        "L[i] = argmax[c](sum[j](A[i,j]*P[j,c]))",
        "(A @ P).argmax(axis=1)",
        A=unit("n", "n"),
        P=unit("n", "c"),
        n=(5, 512),
        c=(3, 10),
    ),
)
