"""Physics: particles, fields, heat, spectra."""

from __future__ import annotations

from einderive.frontend.formulas.written import index, positive, real, result, unit, written

GRIFFITHS = "D. Griffiths, Introduction to Electrodynamics, "
FEYNMAN = "R. Feynman, The Feynman Lectures on Physics, "
LANDAU = "R. Landau, M. Paez and C. Bordeianu, Computational Physics, "
BODIES = (4, 512)

PHYSICS = (
    written(
        "gravitational accelerations",
        "NPBench, nbody",
        """
        D[i,j,c] = x[j,c] - x[i,c]
        R[i,j] = sum[c](D[i,j,c]^2) + 0.1^2       # softened
        a[i,c] = sum[j](m[j]*D[i,j,c]*R[i,j]^-1.5)
        """,
        """
        D = x - x[:, None]
        R = (D**2).sum(axis=2) + 0.1**2
        (m[:, None] * D * R[..., None] ** -1.5).sum(axis=1)
        """,
        x=real("n", 3),
        m=positive("n"),
        n=BODIES,
    ),
    written(
        "potential energy of charges",
        GRIFFITHS + "2.4",
        """
        R[i,j] = sqrt(sum[c]((x[i,c] - x[j,c])^2))
        U = sum[i,j](where(i < j, q[i]*q[j]/R[i,j], 0))
        """,
        """
        i, j = np.triu_indices(len(q), 1)
        (q[i] * q[j] / np.linalg.norm(x[i] - x[j], axis=1)).sum()
        """,
        x=real("n", 3),
        q=real("n"),
        n=BODIES,
    ),
    written(
        "Lennard-Jones energy with a cut-off",
        "D. Frenkel and B. Smit, Understanding Molecular Simulation, 4.1",
        """
        S[i,j] = sum[c]((x[i,c] - x[j,c])^2)
        E = sum[i,j](where(i < j and S[i,j] < 6.25, 4*(S[i,j]^-6 - S[i,j]^-3), 0))
        """,
        """
        i, j = np.triu_indices(len(x), 1)
        S = ((x[i] - x[j]) ** 2).sum(axis=1)
        S = S[S < 6.25]
        (4 * (S**-6 - S**-3)).sum()
        """,
        x=real("n", 3, scale=3.0),
        n=BODIES,
    ),
    written(
        "minimum image distances in a periodic box",
        "M. Allen and D. Tildesley, Computer Simulation of Liquids, 1.6",
        """
        D[i,j,c] = x[i,c] - x[j,c]
        R[i,j] = sqrt(sum[c]((D[i,j,c] - 2*round(D[i,j,c]/2))^2))
        """,
        """
        D = x[:, None] - x
        np.sqrt(((D - 2 * np.round(D / 2)) ** 2).sum(axis=2))
        """,
        x=real("n", 3),
        n=BODIES,
    ),
    written(
        "kinetic energy",
        FEYNMAN + "volume 1, chapter 4",
        "T = sum[i](m[i]*sum[c](v[i,c]^2))/2",
        "(m * (v**2).sum(axis=1)).sum() / 2",
        m=positive("n"),
        v=real("n", 3),
        n=(5, 1 << 18),
    ),
    written(
        "centre of mass, angular momentum",
        FEYNMAN + "volume 1, chapter 18",
        """
        out R[c] = m[i]*x[i,c]/sum[k](m[k])
        L[c] = m[i]*((x[i,(c+1)%3] - R[(c+1)%3])*v[i,(c+2)%3]
                   - (x[i,(c+2)%3] - R[(c+2)%3])*v[i,(c+1)%3]) where c in 0:3
        """,
        """
        R = (m[:, None] * x).sum(axis=0) / m.sum()
        R, (m[:, None] * np.cross(x - R, v)).sum(axis=0)
        """,
        m=positive("n"),
        x=real("n", 3),
        v=real("n", 3),
        n=(5, 1 << 16),
    ),
    written(
        "inertia tensor",
        "H. Goldstein, Classical Mechanics, 5.3",
        "I[a,b] = m[i]*(sum[c](x[i,c]^2)*(a == b) - x[i,a]*x[i,b]) where a in 0:3, b in 0:3",
        "(m * (x**2).sum(axis=1)).sum() * np.eye(3) - np.einsum('i,ia,ib->ab', m, x, x)",
        m=positive("n"),
        x=real("n", 3),
        n=(5, 1 << 16),
    ),
    written(
        "Lorentz force",
        GRIFFITHS + "5.1",
        """
        F[n,i] = q[n]*(E[n,i] + v[n,(i+1)%3]*B[n,(i+2)%3] - v[n,(i+2)%3]*B[n,(i+1)%3])
        """,
        "q[:, None] * (E + np.cross(v, B))",
        q=real("n"),
        E=real("n", 3),
        v=real("n", 3),
        B=real("n", 3),
        n=(5, 1 << 17),
    ),
    written(
        "heat equation, one step",
        LANDAU + "20.2",
        """
        L[i,j] = u[i-1,j] + u[i+1,j] + u[i,j-1] + u[i,j+1] - 4*u[i,j]
            where i in 0:n, j in 0:m
        v[i,j] = u[i,j] + 0.1*L[i,j]
        """,
        """
        P = np.pad(u, 1)
        u + 0.1 * (P[:-2, 1:-1] + P[2:, 1:-1] + P[1:-1, :-2] + P[1:-1, 2:] - 4 * u)
        """,
        u=real("n", "m"),
        n=(5, 1024),
        m=(6, 1024),
        given="n m",
    ),
    written(
        "wave equation, one step with periodic ends",
        LANDAU + "21.2",
        """
        v[i] = 2*u[i] - w[i] + 0.25*(u[(i+1)%n] - 2*u[i] + u[(i-1)%n]) where i in 0:n
        """,
        "2 * u - w + 0.25 * (np.roll(u, -1) - 2 * u + np.roll(u, 1))",
        u=real("n"),
        w=real("n"),
        n=(6, 1 << 20),
        given="n",
    ),
    written(
        "upwind advection",
        "R. LeVeque, Finite Volume Methods for Hyperbolic Problems, 4.9",
        """
        v[i] = u[i+1] - 0.5*where(a[i+1] > 0, a[i+1]*(u[i+1] - u[i]), a[i+1]*(u[i+2] - u[i+1]))
            where i in 0:n-2
        """,
        """
        c, d = a[1:-1], np.diff(u)
        u[1:-1] - 0.5 * np.where(c > 0, c * d[:-1], c * d[1:])
        """,
        u=real("n"),
        a=real("n"),
        n=(7, 1 << 20),
        given="n",
    ),
    written(
        "Ising energy of a periodic lattice",
        LANDAU + "17.4",
        "E = -sum[i,j](s[i,j]*(s[(i+1)%n,j] + s[i,(j+1)%n])) - 0.1*sum[i,j](s[i,j])",
        "-(s * (np.roll(s, -1, 0) + np.roll(s, -1, 1))).sum() - 0.1 * s.sum()",
        s=real("n", "n"),
        n=(5, 1024),
        given="n",
    ),
    written(
        "Planck's law",
        FEYNMAN + "volume 1, chapter 41",
        "B[t,k] = 2*nu[k]^3/(exp(nu[k]/T[t]) - 1)",
        "2 * nu**3 / (np.exp(nu / T[:, None]) - 1)",
        nu=positive("k"),
        T=positive("t"),
        t=(4, 512),
        k=(5, 1024),
    ),
    written(
        "Fermi-Dirac occupation, number of particles",
        "C. Kittel, Introduction to Solid State Physics, chapter 6",
        "N[t] = sum[k](1/(exp((E[k] - mu)/T[t]) + 1))",
        "(1 / (np.exp((E - mu) / T[:, None]) + 1)).sum(axis=1)",
        E=real("k"),
        mu=real(),
        T=positive("t"),
        t=(4, 512),
        k=(5, 1024),
    ),
    written(
        "partition function, its logarithm and the mean energy",
        "F. Reif, Fundamentals of Statistical and Thermal Physics, 6.5",
        """
        out Z[t] = logsumexp[k](-E[k]/T[t])
        U[t] = sum[k](E[k]*exp(-E[k]/T[t] - Z[t]))
        """,
        """
        W = -E / T[:, None]
        Z = np.logaddexp.reduce(W, axis=1)
        Z, np.exp(W - Z[:, None]) @ E
        """,
        E=real("k"),
        T=positive("t"),
        t=(4, 512),
        k=(5, 1024),
    ),
    written(
        "relativistic energy",
        FEYNMAN + "volume 1, chapter 15",
        "E[i] = (m[i]^2 + sum[c](p[i,c]^2))^0.5",
        "np.sqrt(m**2 + (p**2).sum(axis=1))",
        m=positive("n"),
        p=real("n", 3),
        n=(5, 1 << 18),
    ),
    written(
        "invariant masses of pairs",
        "Particle Data Group, Review of Particle Physics, Kinematics",
        """
        # cosh and cos of the differences of rapidity and azimuth
        M[i,j] = sqrt(2*p[i]*p[j]*(cosh(y[i]-y[j]) - cos(f[i]-f[j])))
        """,
        """
        D = np.cosh(y[:, None] - y) - np.cos(f[:, None] - f)
        np.sqrt(2 * p[:, None] * p * D)
        """,
        p=positive("n"),
        y=real("n"),
        f=real("n"),
        n=BODIES,
    ),
    written(
        "radial distribution, a histogram of distances",
        "M. Allen and D. Tildesley, Computer Simulation of Liquids, 6.2",
        """
        R[i,j] = norm[c](x[i,c] - x[j,c])
        g[b] = count[i,j](i < j and 0.5*b <= R[i,j] and R[i,j] < 0.5*b + 0.5) where b in 0:6
        """,
        """
        i, j = np.triu_indices(len(x), 1)
        np.histogram(np.linalg.norm(x[i] - x[j], axis=1), bins=6, range=(0, 3))[0]
        """,
        x=real("n", 3),
        n=(5, 256),
    ),
    written(
        "charge on a grid, nearest point",
        "C. Birdsall and A. Langdon, Plasma Physics via Computer Simulation, 2.6",
        "rho[c[p]] += q[p]",
        "np.bincount(c, weights=q, minlength=64)",
        q=real("p"),
        c=index("p", below=64),
        rho=result(64),
        p=(9, 1 << 18),
    ),
    written(
        "field at the particles, linear weights",
        "C. Birdsall and A. Langdon, Plasma Physics via Computer Simulation, 2.6",
        "F[p] = (1 - w[p])*E[c[p]] + w[p]*E[c[p]+1]",
        "(1 - w) * E[c] + w * E[c + 1]",
        w=unit("p"),
        E=real(65),
        c=index("p", below=64),
        p=(9, 1 << 18),
    ),
    written(
        "harmonic oscillator's ground state, its norm on a grid",
        "D. Griffiths, Introduction to Quantum Mechanics, 2.3",
        """
        psi[i] = exp(-((i - n/2)*0.05)^2/2)/pi^0.25 where i in 0:n
        N = 0.05*sum[i](psi[i]^2*V[i])
        """,
        """
        x = (np.arange(len(V)) - len(V) / 2) * 0.05
        0.05 * (np.exp(-(x**2) / 2) ** 2 / np.sqrt(np.pi) * V).sum()
        """,
        V=positive("n"),
        n=(8, 1 << 12),
        given="n",
    ),
    written(
        "divergence of a field",
        GRIFFITHS + "1.2",
        """
        D[i,j] = (F[i+2,j+1,0] - F[i,j+1,0] + F[i+1,j+2,1] - F[i+1,j,1])/(2*0.1)
            where i in 0:n-2, j in 0:m-2
        """,
        "(F[2:, 1:-1, 0] - F[:-2, 1:-1, 0] + F[1:-1, 2:, 1] - F[1:-1, :-2, 1]) / (2 * 0.1)",
        F=real("n", "m", 2),
        n=(5, 512),
        m=(6, 512),
        given="n m",
    ),
)
