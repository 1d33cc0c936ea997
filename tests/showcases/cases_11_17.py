"""Show-cases 11 to 17: see `cases.py` for how one is written down."""

from __future__ import annotations

from tests.showcases.cases import Case, at

CHAIN = {"A": "I J", "B": "J K", "C": "K L", "D": "L M"}

ALGEBRA: dict[str, Case] = {
    "11 max pooling 7x7 in two passes": Case(
        "Y[c,h,w] = max[r,s](A{fill=-inf}[c,h+r-3,w+s-3])"
        " where h in 0:$H, w in 0:$W, r in 0:7, s in 0:7",
        "T[c,h,w] = max[s](A{fill=-inf}[c,h,w+s-3]) where w in 0:$W, s in 0:7;"
        "Y[c,h,w] = max[r](T{fill=-inf}[c,h+r-3,w]) where h in 0:$H, r in 0:7",
        {"A": "C H W"},
        at("C64 H112 W112"),
        at("C2 H5 W4"),
    ),
    "11 Gaussian window in two passes": Case(
        "Y[c,h,w] = A[c,h+r-3,w+s-3]*g[r]*f[s] where h in 0:$H, w in 0:$W",
        "T[c,h,w] = A[c,h,w+s-3]*f[s] where w in 0:$W;Y[c,h,w] = T[c,h+r-3,w]*g[r] where h in 0:$H",
        {"A": "C H W", "g": "R", "f": "S"},
        at("C64 H112 W112 R7 S7"),
        at("C2 H5 W4 R7 S7"),
    ),
    "11 rank-one window, channels last, no padding": Case(
        "Z[y,x,k] = u[p]*B[y+p,x+q,k]*v[q] where y in 0:$H, x in 0:$W",
        "T[y,x,k] = B[y,x+q,k]*v[q] where x in 0:$W; Z[y,x,k] = u[p]*T[y+p,x,k] where y in 0:$H",
        {"B": "X Z C", "u": "R", "v": "S"},
        at("X301 Z197 C12 R9 S5 H293 W193"),
        at("X6 Z5 C2 R3 S2 H4 W4"),
    ),
    "12 Kronecker product times vector": Case(
        "Y[i,j] = A[i,k]*B[j,l]*x[k,l]",
        "T[i,l] = A[i,k]*x[k,l]; Y[i,j] = T[i,l]*B[j,l]",
        {"A": "I K", "B": "J L", "x": "K L"},
        at("I128 J128 K128 L128"),
        at("I2 J3 K4 L5"),
        listed=True,
    ),
    "12 Kronecker, three factors, transposed": Case(
        "Y[a,b,c] = P[i,a]*Q[j,b]*R[k,c]*x[i,j,k]",
        "T[a,j,k] = P[i,a]*x[i,j,k]; U[a,b,k] = T[a,j,k]*Q[j,b]; Y[a,b,c] = U[a,b,k]*R[k,c]",
        {"P": "I A", "Q": "J B", "R": "K C", "x": "I J K"},
        at("I31 J37 K41 A43 B29 C47"),
        at("I2 J3 K2 A3 B2 C3"),
    ),
    "12 chain of four": Case(
        "Y[i,m] = A[i,j]*B[j,k]*C[k,l]*D[l,m]",
        "T[k,m] = C[k,l]*D[l,m]; U[j,m] = B[j,k]*T[k,m]; Y[i,m] = A[i,j]*U[j,m]",
        CHAIN,
        at("I300 J1000 K20 L2000 M5"),
        at("I2 J3 K4 L2 M3"),
    ),
    "13 moments": Case(
        "Y[i] = (X[i]-Z[j])^2*W[j]",
        "p = W[j]; q = Z[j]*W[j]; r = Z[j]^2*W[j]; Y[i] = X[i]^2*p - 2*X[i]*q + r",
        {"X": "I", "Z": "J", "W": "J"},
        at("I65536 J65536"),
        at("I4 J5"),
        fast=True,
    ),
    "13 moments, batched, other names": Case(
        "M[b,s] = (P[b,s]-Q[b,t])*(P[b,s]-Q[b,t])*V[b,t]",
        "p[b] = V[b,t]; q[b] = Q[b,t]*V[b,t]; r[b] = Q[b,t]^2*V[b,t];"
        "M[b,s] = P[b,s]^2*p[b] - 2*P[b,s]*q[b] + r[b]",
        {"P": "B I", "Q": "B J", "V": "B J"},
        at("B7 I30011 J20011"),
        at("B2 I4 J5"),
        fast=True,
    ),
    "14 covariance without centring": Case(
        "m[i] = X[t,i]/$T; C[i,j] = (X[t,i]-m[i])*(X[t,j]-m[j])",
        "m[i] = X[t,i]/$T; G[i,j] = X[t,i]*X[t,j]; C[i,j] = G[i,j] - $T*m[i]*m[j]",
        {"X": "T I"},
        at("T10000 I512"),
        at("T4 I3"),
        listed=True,
        fast=True,
    ),
    "14 covariance of two sets, variables first": Case(
        "m[i] = X[i,t]/$T; n[j] = Z[j,t]/$T; C[i,j] = (X[i,t]-m[i])*(Z[j,t]-n[j])",
        "m[i] = X[i,t]/$T; n[j] = Z[j,t]/$T; G[i,j] = X[i,t]*Z[j,t];C[i,j] = G[i,j] - $T*m[i]*n[j]",
        {"X": "I T", "Z": "J T"},
        at("T5003 I301 J407"),
        at("T4 I3 J2"),
        listed=True,
        fast=True,
    ),
    "14 covariance, batched, unbiased": Case(
        "m[b,i] = X[b,t,i]/$T; C[b,i,j] = (X[b,t,i]-m[b,i])*(X[b,t,j]-m[b,j])/($T-1)",
        "m[b,i] = X[b,t,i]/$T; G[b,i,j] = X[b,t,i]*X[b,t,j];"
        "C[b,i,j] = (G[b,i,j] - $T*m[b,i]*m[b,j])/($T-1)",
        {"X": "B T I"},
        at("B6 T4003 I255"),
        at("B2 T4 I3"),
        listed=True,
        fast=True,
    ),
    "15 low-rank update": Case(
        "Y[t,o] = X[t,i]*(W[o,i] + B[o,r]*A[r,i])",
        "U[t,o] = X[t,i]*W[o,i]; T[t,r] = X[t,i]*A[r,i]; V[t,o] = T[t,r]*B[o,r];"
        "Y[t,o] = U[t,o] + V[t,o]",
        {"X": "T I", "W": "O I", "B": "O R", "A": "R I"},
        at("T32 I4096 O4096 R16"),
        at("T2 I4 O3 R2"),
        listed=True,
    ),
    "15 low-rank update, transposed, scaled": Case(
        "Z[p,n] = (U[r,m]*V[n,r]*0.5 + G[m,n])*H[m,p]",
        "S[p,n] = G[m,n]*H[m,p]; T[p,r] = U[r,m]*H[m,p]; Q[p,n] = T[p,r]*V[n,r];"
        "Z[p,n] = S[p,n] + 0.5*Q[p,n]",
        {"U": "R I", "V": "O R", "G": "I O", "H": "I T"},
        at("T17 I2003 O3001 R8"),
        at("T2 I4 O3 R2"),
    ),
    "16 three projections as one matmul": Case(
        "Q[t,o] = X[t,i]*W[o,i]; K[t,o] = X[t,i]*V[o,i]; R[t,o] = X[t,i]*U[o,i]",
        "P[p,o,i] = where(p < 1, W[o,i], where(p < 2, V[o,i], U[o,i])) where p in 0:3;"
        "T[p,t,o] = X[t,i]*P[p,o,i];"
        "Q[t,o] = T[0,t,o]; K[t,o] = T[1,t,o]; R[t,o] = T[2,t,o]",
        {"X": "T I", "W": "O I", "V": "O I", "U": "O I"},
        at("T64 I512 O512"),
        at("T2 I3 O4"),
        weights=("W", "V", "U"),
    ),
    "16 projections of unequal width, features first": Case(
        "Q[o,t] = W[o,i]*X[i,t]; K[p,t] = V[p,i]*X[i,t]; R[p,t] = U[p,i]*X[i,t]",
        "P[o,i] = where(o < $O, W[o,i], where(o < $O+$P, V[o-$O,i], U[o-$O-$P,i])) where o in 0:$S;"
        "T[o,t] = P[o,i]*X[i,t]; Q[o,t] = T[o,t] where o in 0:$O;"
        "K[p,t] = T[p+$O,t] where p in 0:$P; R[p,t] = T[p+$O+$P,t] where p in 0:$P",
        {"X": "I T", "W": "O I", "V": "P I", "U": "P I"},
        at("T128 I2048 O2048 P512 S3072"),
        at("T2 I3 O4 P2 S8"),
        weights=("W", "V", "U"),
        listed=True,
    ),
    "16 two batched projections": Case(
        "Q[b,h,s,d] = X[b,s,i]*W[i,h,d]; K[b,g,s,d] = X[b,s,i]*V[i,g,d]",
        "P[i,h,d] = where(h < $H, W[i,h,d], V[i,h-$H,d]) where h in 0:$S;"
        "T[b,s,h,d] = X[b,s,i]*P[i,h,d]; Q[b,h,s,d] = T[b,s,h,d] where h in 0:$H;"
        "K[b,g,s,d] = T[b,s,g+$H,d] where g in 0:$G",
        {"X": "B T I", "W": "I H D", "V": "I G D"},
        at("B2 T100 I768 H12 G3 D64 S15"),
        at("B2 T2 I3 H2 G1 D2 S3"),
        weights=("W", "V"),
        listed=True,
    ),
    "17 grouped queries without repeated keys": Case(
        "S[b,h,i,j] = Q[b,h,i,d]*K[b,h//4,j,d]",
        "T[b,g,u,i,j] = Q[b,4*g+u,i,d]*K[b,g,j,d] where u in 0:4;"
        "S[b,h,i,j] = T[b,h//4,h%4,i,j] where h in 0:$H",
        {"Q": "B H I D", "K": "B G J D"},
        at("B2 H32 G8 I128 J128 D64"),
        at("B2 H8 G2 I2 J3 D2"),
        listed=True,
    ),
    "17 grouped queries, heads last, seven a group": Case(
        "S[b,i,h,j] = Q[b,i,h,d]*K[b,j,h//7,d]",
        "T[b,i,g,u,j] = Q[b,i,7*g+u,d]*K[b,j,g,d] where u in 0:7;"
        "S[b,i,h,j] = T[b,i,h//7,h%7,j] where h in 0:$H",
        {"Q": "B I H D", "K": "B J G D"},
        at("B3 H28 G4 I61 J253 D64"),
        at("B2 H14 G2 I2 J3 D2"),
        listed=True,
    ),
}
