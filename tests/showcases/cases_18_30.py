"""Show-cases 18 to 30: see `cases.py` for how one is written down."""

from __future__ import annotations

from tests.showcases.cases import Case, at

IMAGE = {"A": "N C H W", "K": "F C R S"}

LAYERS: dict[str, Case] = {
    "18 batch norm after a convolution": Case(
        "T[n,f,h,w] = A[n,c,h+r-1,w+s-1]*K[f,c,r,s] where h in 0:$H, w in 0:$W;"
        "Y[n,f,h,w] = T[n,f,h,w]*g[f] + b[f]",
        "G[f,c,r,s] = K[f,c,r,s]*g[f];"
        "T[n,f,h,w] = A[n,c,h+r-1,w+s-1]*G[f,c,r,s] where h in 0:$H, w in 0:$W;"
        "Y[n,f,h,w] = T[n,f,h,w] + b[f]",
        {"A": "N C H W", "K": "F C R R", "g": "F", "b": "F"},
        at("N8 C64 F64 H28 W28 R3"),
        at("N1 C2 F3 H3 W4 R3"),
        weights=("K", "g", "b"),
        listed=True,
    ),
    "18 batch norm with its statistics, NHWC": Case(
        "T[n,h,w,f] = A[n,h+r-1,w+s-1,c]*K[r,s,c,f] where h in 0:$H, w in 0:$W;"
        "Y[n,h,w,f] = (T[n,h,w,f]-m[f])*rsqrt(v[f]+0.001)*g[f] + b[f]",
        "q[f] = rsqrt(v[f]+0.001)*g[f]; G[r,s,c,f] = K[r,s,c,f]*q[f]; e[f] = b[f]-m[f]*q[f];"
        "T[n,h,w,f] = A[n,h+r-1,w+s-1,c]*G[r,s,c,f] where h in 0:$H, w in 0:$W;"
        "Y[n,h,w,f] = T[n,h,w,f] + e[f]",
        {"A": "N H W C", "K": "R R C F", "g": "F", "b": "F", "m": "F", "v": "F"},
        at("N4 C48 F96 H41 W37 R3"),
        at("N1 C2 F3 H3 W4 R3"),
        weights=("K", "g", "b", "m", "v"),
    ),
    "18 scale after a 1x1 convolution": Case(
        "T[b,o,x] = W[o,c]*I[b,c,x]; Y[b,o,x] = relu(T[b,o,x]*g[o] + d[o])",
        "G[o,c] = W[o,c]*g[o]; T[b,o,x] = G[o,c]*I[b,c,x]; Y[b,o,x] = relu(T[b,o,x] + d[o])",
        {"I": "B C X", "W": "O C", "g": "O", "d": "O"},
        at("B16 C64 X3001 O128"),
        at("B2 C2 X3 O3"),
        weights=("W", "g", "d"),
        listed=True,
    ),
    "19 1x1 convolutions in a row": Case(
        "T[n,c,h,w] = A[n,i,h,w]*U[c,i]; Y[n,o,h,w] = T[n,c,h,w]*V[o,c]",
        "G[o,i] = V[o,c]*U[c,i]; Y[n,o,h,w] = A[n,i,h,w]*G[o,i]",
        {"A": "N I H W", "U": "C I", "V": "O C"},
        at("N8 I16 H56 W56 C512 O16"),
        at("N2 I3 H2 W3 C4 O2"),
        listed=True,
    ),
    "19 three 1x1 convolutions, NHWC": Case(
        "T[n,h,w,c] = A[n,h,w,i]*P[i,c]; U[n,h,w,d] = T[n,h,w,c]*Q[c,d];"
        "Y[n,h,w,o] = U[n,h,w,d]*R[d,o]",
        "G[i,d] = P[i,c]*Q[c,d]; E[i,o] = G[i,d]*R[d,o]; Y[n,h,w,o] = A[n,h,w,i]*E[i,o]",
        {"A": "N H W I", "P": "I C", "Q": "C D", "R": "D O"},
        at("N5 I12 H61 W53 C300 D200 O17"),
        at("N2 I3 H2 W3 C4 D2 O3"),
    ),
    "20 1x1 convolution, then pooling": Case(
        "T[n,o,h,w] = A[n,c,h,w]*U[o,c];"
        "Y[n,o,h,w] = T[n,o,2*h+r,2*w+s]/4 where h in 0:$X, w in 0:$Z, r in 0:2, s in 0:2",
        "P[n,c,h,w] = A[n,c,2*h+r,2*w+s]/4 where h in 0:$X, w in 0:$Z, r in 0:2, s in 0:2;"
        "Y[n,o,h,w] = P[n,c,h,w]*U[o,c]",
        {"A": "N C H W", "U": "O C"},
        at("N8 C64 H56 W56 O256 X28 Z28"),
        at("N2 C2 H4 W6 O3 X2 Z3"),
    ),
    "20 pooling, then 1x1 convolution, NHWC": Case(
        "P[n,h,w,c] = A[n,3*h+r,3*w+s,c]/9 where h in 0:$X, w in 0:$Z, r in 0:3, s in 0:3;"
        "Y[n,h,w,o] = P[n,h,w,c]*U[c,o]",
        "T[n,h,w,o] = A[n,h,w,c]*U[c,o];"
        "Y[n,h,w,o] = T[n,3*h+r,3*w+s,o]/9 where h in 0:$X, w in 0:$Z, r in 0:3, s in 0:3",
        {"A": "N H W C", "U": "C O"},
        at("N3 C512 H57 W51 O4 X19 Z17"),
        at("N1 C2 H6 W3 O3 X2 Z1"),
    ),
    "21 strided convolution as dense phases": Case(
        "Y[n,f,h,w] = A[n,c,2*h+r-1,2*w+s-1]*K[f,c,r,s] where h in 0:$X, w in 0:$Z",
        "D[n,c,p,q,x,y] = A[n,c,2*x+p-1,2*y+q-1]"
        " where p in 0:2, q in 0:2, x in 0:$U, y in 0:$V;"
        "E[f,c,p,q,a,b] = K[f,c,2*a+p,2*b+q] where p in 0:2, q in 0:2, a in 0:2, b in 0:2;"
        "Y[n,f,h,w] = D[n,c,p,q,h+a,w+b]*E[f,c,p,q,a,b] where h in 0:$X, w in 0:$Z",
        IMAGE,
        at("N1 C64 H56 W56 F128 R3 S3 X28 Z28 U29 V29"),
        at("N1 C2 H4 W6 F2 R3 S3 X2 Z3 U3 V4"),
    ),
    "21 conv 5x5, stride 3, NHWC, no padding": Case(
        "Y[n,h,w,f] = A[n,3*h+r,3*w+s,c]*K[r,s,c,f] where h in 0:$X, w in 0:$Z",
        "D[n,p,q,x,y,c] = A[n,3*x+p,3*y+q,c] where p in 0:3, q in 0:3, x in 0:$U, y in 0:$V;"
        "E[p,q,a,b,c,f] = K[3*a+p,3*b+q,c,f] where p in 0:3, q in 0:3, a in 0:2, b in 0:2;"
        "Y[n,h,w,f] = D[n,p,q,h+a,w+b,c]*E[p,q,a,b,c,f] where h in 0:$X, w in 0:$Z",
        {"A": "N H W C", "K": "R S C F"},
        at("N2 C48 H50 W41 F96 R5 S5 X16 Z13 U17 V14"),
        at("N1 C2 H8 W5 F2 R5 S5 X2 Z1 U3 V2"),
    ),
    **{
        f"22 transposed conv {r}x{r}, stride {d}": Case(
            f"Y[n,h,w,f] = A[n,i,j,c]*K[h+1-{d}*i,w+1-{d}*j,f,c] where h in 0:$X, w in 0:$X",
            "T[n,i,j,r,s,f] = A[n,i,j,c]*K[r,s,f,c];"
            f"Y[n,h,w,f] = T[n,i,j,h+1-{d}*i,w+1-{d}*j,f] where h in 0:$X, w in 0:$X",
            {"A": "N H H C", "K": "R R F C"},
            at(N=4, H=5, C=128, F=64, R=r, X=5 * d),
            at(N=1, H=2, C=2, F=2, R=r, X=2 * d),
            listed=True,
        )
        for d, r in ((2, 3), (3, 5), (4, 7))
    },
    "22 transposed conv 3x3, stride 2, NCHW": Case(
        "O[b,o,y,x] = I[b,i,u,v]*W[i,o,y-2*u,x-2*v] where y in 0:$X, x in 0:$X",
        "T[b,u,v,p,q,o] = I[b,i,u,v]*W[i,o,p,q];"
        "O[b,o,y,x] = T[b,u,v,y-2*u,x-2*v,o] where y in 0:$X, x in 0:$X",
        {"I": "N C H H", "W": "C F R R"},
        at("N3 H7 C100 F36 R3 X15"),
        at("N1 H2 C2 F2 R3 X5"),
        listed=True,
    ),
    "23 RMSNorm behind the matmul": Case(
        "s[t] = rsqrt(sum[i](X[t,i]^2)/$I); Y[t,o] = X[t,i]*s[t]*G[i]*W[o,i]",
        "s[t] = rsqrt(sum[i](X[t,i]^2)/$I); Z[t,i] = X[t,i]*G[i]; T[t,o] = Z[t,i]*W[o,i];"
        "Y[t,o] = T[t,o]*s[t]",
        {"X": "T I", "G": "I", "W": "O I"},
        at("T32 I4096 O4096"),
        at("T2 I4 O3"),
    ),
    "23 RMSNorm without a gain, features first": Case(
        "s[t] = rsqrt(sum[i](X[i,t]^2)/$I + 0.00001); Z[i,t] = X[i,t]*s[t];Y[o,t] = Z[i,t]*W[i,o]",
        "s[t] = rsqrt(sum[i](X[i,t]^2)/$I + 0.00001); T[o,t] = X[i,t]*W[i,o];Y[o,t] = T[o,t]*s[t]",
        {"X": "I T", "W": "I O"},
        at("T3001 I1024 O64"),
        at("T2 I4 O3"),
    ),
    "24 two convolutions of one input as one": Case(
        "Y[n,f,h,w] = A[n,c,h+r-1,w+s-1]*K[f,c,r,s] where h in 0:$H, w in 0:$W;"
        "Z[n,g,h,w] = A[n,c,h,w]*L[g,c]",
        "E[f,c,r,s] = where(f < $F, K[f,c,r,s], where(r == 1 and s == 1, L[f-$F,c], 0))"
        " where f in 0:$G, r in 0:3, s in 0:3;"
        "T[n,f,h,w] = A[n,c,h+r-1,w+s-1]*E[f,c,r,s] where h in 0:$H, w in 0:$W;"
        "Y[n,f,h,w] = T[n,f,h,w] where f in 0:$F; Z[n,g,h,w] = T[n,g+$F,h,w] where g in 0:$F",
        {"A": "N C H W", "K": "F C R R", "L": "F C"},
        at("N1 C256 F64 G128 H14 W14 R3"),
        at("N1 C2 F2 G4 H3 W4 R3"),
        weights=("K", "L"),
        listed=True,
    ),
    "24 convolutions 3x3 and 5x5, NHWC": Case(
        "Y[n,h,w,f] = A[n,h+r-1,w+s-1,c]*K[r,s,c,f] where h in 0:$H, w in 0:$W;"
        "Z[n,h,w,g] = A[n,h+r-2,w+s-2,c]*L[r,s,c,g] where h in 0:$H, w in 0:$W",
        "E[r,s,c,f] = where(f < $F, K[r-1,s-1,c,f], L[r,s,c,f-$F])"
        " where f in 0:$O, r in 0:5, s in 0:5;"
        "T[n,h,w,f] = A[n,h+r-2,w+s-2,c]*E[r,s,c,f] where h in 0:$H, w in 0:$W;"
        "Y[n,h,w,f] = T[n,h,w,f] where f in 0:$F; Z[n,h,w,g] = T[n,h,w,g+$F] where g in 0:$G",
        {"A": "N H W C", "K": "R R C F", "L": "S S C G"},
        at("N1 C16 F16 G32 O48 H7 W7 R3 S5"),
        at("N1 C2 F2 G3 O5 H3 W4 R3 S5"),
        weights=("K", "L"),
        listed=True,
    ),
    "24 convolutions 1x3 and 3x1": Case(
        "Y[n,f,h,w] = A[n,c,h,w+s-1]*K[f,c,s] where w in 0:$W;"
        "Z[n,g,h,w] = A[n,c,h+r-1,w]*L[g,c,r] where h in 0:$H",
        "E[f,c,r,s] = where(f < $F, where(r == 1, K[f,c,s], 0), where(s == 1, L[f-$F,c,r], 0))"
        " where f in 0:$G, r in 0:3, s in 0:3;"
        "T[n,f,h,w] = A[n,c,h+r-1,w+s-1]*E[f,c,r,s] where h in 0:$H, w in 0:$W;"
        "Y[n,f,h,w] = T[n,f,h,w] where f in 0:$F; Z[n,g,h,w] = T[n,g+$F,h,w] where g in 0:$F",
        {"A": "N C H W", "K": "F C R", "L": "F C R"},
        at("N1 C64 F32 G64 H14 W13 R3"),
        at("N1 C2 F2 G4 H3 W4 R3"),
        weights=("K", "L"),
        listed=True,
    ),
    "25 grouped convolution as batched matmul": Case(
        "Y[n,g,f,h,w] = A[n,g,c,h+r-1,w+s-1]*K[g,f,c,r,s] where h in 0:$H, w in 0:$W",
        "T[n,g,h,w,r,s,f] = A[n,g,c,h,w]*K[g,f,c,r,s];"
        "Y[n,g,f,h,w] = T[n,g,h+r-1,w+s-1,r,s,f] where h in 0:$H, w in 0:$W",
        {"A": "N G C H W", "K": "G F C R S"},
        at("N1 G32 C8 F8 H14 W14 R3 S3"),
        at("N1 G2 C2 F2 H3 W4 R3 S3"),
        listed=True,
    ),
    "25 grouped 1x1 convolution on one channel axis": Case(
        "Y[n,o,h,w] = A[n,8*(o//16)+c,h,w]*K[o,c]",
        "T[n,g,f,h,w] = A[n,8*g+c,h,w]*K[16*g+f,c] where g in 0:$G, f in 0:16;"
        "Y[n,o,h,w] = T[n,o//16,o%16,h,w] where o in 0:$O",
        {"A": "N I H W", "K": "O C"},
        at("N4 G12 I96 O192 C8 H29 W31"),
        at("N1 G2 I16 O32 C8 H2 W2"),
        listed=True,
    ),
    "26 causal mask": Case(
        "Y[i,e] = where(j <= i, P[i,j], 0)*V[j,e]",
        "M[i,j] = where(j <= i, P[i,j], 0); Y[i,e] = M[i,j]*V[j,e]",
        {"P": "I J", "V": "J E"},
        at("I1024 J1024 E64"),
        at("I5 J5 E2"),
        listed=True,
    ),
    "26 window": Case(
        "Y[i,e] = where(0 <= i-j and i-j < 64, P[i,j], 0)*V[j,e]",
        "Y[i,e] = P[i,i-w]*V[i-w,e] where w in 0:64",
        {"P": "I J", "V": "J E"},
        at("I2048 J2048 E64"),
        at("I66 J66 E2"),
    ),
    "26 window, batched, both sides, other names": Case(
        "O[q,b,x] = where(-20 <= s-q and s-q <= 20, A[b,q,s], 0)*U[s,b,x]",
        "O[q,b,x] = A[b,q,q+w-20]*U[q+w-20,b,x] where w in 0:41",
        {"A": "B I J", "U": "J B E"},
        at("B3 I2011 J2011 E32"),
        at("B2 I23 J23 E2"),
    ),
    "27 bilinear forms": Case(
        "Y[b] = X[b,i]*A[i,j]*Z[b,j]",
        "T[b,j] = X[b,i]*A[i,j]; Y[b] = T[b,j]*Z[b,j]",
        {"X": "B I", "A": "I J", "Z": "B J"},
        at("B1024 I256 J256"),
        at("B2 I3 J4"),
    ),
    "27 bilinear layer, features first": Case(
        "Y[o,b] = X[i,b]*A[o,i,j]*Z[j,b]",
        "T[o,b,j] = X[i,b]*A[o,i,j]; Y[o,b] = T[o,b,j]*Z[j,b]",
        {"X": "I B", "A": "O I J", "Z": "J B"},
        at("B500 I61 J67 O37"),
        at("B2 I3 J4 O2"),
    ),
    "28 MTTKRP": Case(
        "Y[i,r] = X[i,j,k]*B[j,r]*C[k,r]",
        "T[i,j,r] = X[i,j,k]*C[k,r]; Y[i,r] = T[i,j,r]*B[j,r]",
        {"X": "I J K", "B": "J R", "C": "K R"},
        at("I64 J64 K64 R32"),
        at("I2 J3 K2 R2"),
        listed=True,
    ),
    "28 MTTKRP, last mode": Case(
        "Y[k,r] = P[r,i]*X[i,j,k]*Q[r,j]",
        "T[r,j,k] = P[r,i]*X[i,j,k]; Y[k,r] = T[r,j,k]*Q[r,j]",
        {"X": "I J K", "P": "R I", "Q": "R J"},
        at("I101 J83 K57 R13"),
        at("I2 J3 K2 R2"),
    ),
    "28 Tucker": Case(
        "Y[i,j,k] = G[a,b,c]*A[i,a]*B[j,b]*C[k,c]",
        "T[i,b,c] = G[a,b,c]*A[i,a]; U[i,j,c] = T[i,b,c]*B[j,b]; Y[i,j,k] = U[i,j,c]*C[k,c]",
        {"G": "P Q R", "A": "I P", "B": "J Q", "C": "K R"},
        at("P16 Q16 R16 I128 J128 K128"),
        at("P2 Q2 R2 I3 J2 K3"),
    ),
    "29 im2col, strided": Case(
        "Y[n,h,w,f] = A[n,3*h+r,3*w+s,c]*K[r,s,c,f] where h in 0:$X, w in 0:$Z",
        "T[n,h,w,r,s,c] = A[n,3*h+r,3*w+s,c] where h in 0:$X, w in 0:$Z, r in 0:5, s in 0:5;"
        "Y[n,h,w,f] = T[n,h,w,r,s,c]*K[r,s,c,f]",
        {"A": "N H W C", "K": "R S C F"},
        at("N2 C48 H50 W41 F96 R5 S5 X16 Z13"),
        at("N1 C2 H8 W5 F2 R5 S5 X2 Z1"),
    ),
    "29 im2col, 1-d": Case(
        "O[b,o,x] = I[b,c,x+q-4]*W[o,c,q] where x in 0:$X",
        "T[b,x,c,q] = I[b,c,x+q-4] where x in 0:$X, q in 0:9; O[b,o,x] = T[b,x,c,q]*W[o,c,q]",
        {"I": "B C X", "W": "O C R"},
        at("B4 C8 X5000 O48 R9"),
        at("B1 C2 X5 O2 R9"),
    ),
    "30 conv 1-d": Case(
        "Y[n,h,f] = A[n,h+r-1,c]*K[r,f,c] where h in 0:$H",
        "T[n,h,r,f] = A[n,h,c]*K[r,f,c]; Y[n,h,f] = T[n,h+r-1,r,f] where h in 0:$H",
        {"A": "N H C", "K": "R F C"},
        at("N1 H49 C512 F512 R3"),
        at("N2 H4 C2 F2 R3"),
        listed=True,
    ),
    "30 conv 3-d": Case(
        "Y[n,z,h,w,f] = A[n,z+q-1,h+r-1,w+s-1,c]*K[q,r,s,f,c]"
        " where z in 0:$Z, h in 0:$H, w in 0:$W",
        "T[n,z,h,w,q,r,s,f] = A[n,z,h,w,c]*K[q,r,s,f,c];"
        "Y[n,z,h,w,f] = T[n,z+q-1,h+r-1,w+s-1,q,r,s,f] where z in 0:$Z, h in 0:$H, w in 0:$W",
        {"A": "N Z H W C", "K": "R R R F C"},
        at("N1 Z4 H7 W7 C256 F256 R3"),
        at("N1 Z2 H3 W2 C2 F2 R3"),
        listed=True,
        within=1.01,  # T is found with one dimension padded, where the one by hand is skewed
    ),
    "30 dilated conv 1-d, NCW": Case(
        "Y[n,f,w] = A[n,c,w+2*s-2]*K[f,c,s] where w in 0:$W",
        "T[n,a,f,y] = A[n,c,2*(y+s-1)+a]*K[f,c,s] where a in 0:2, y in 0:$Z;"
        "Y[n,f,w] = T[n,w%2,f,w//2] where w in 0:$W",
        {"A": "N C W", "K": "F C S"},
        at("N2 C256 F128 W99 S3 Z50"),
        at("N1 C2 F2 W5 S3 Z3"),
        listed=True,
    ),
    "30 dilated conv 3-d": Case(
        "Y[n,f,z,h,w] = A[n,c,z+2*q-2,h+2*r-2,w+2*s-2]*K[f,c,q,r,s]"
        " where z in 0:$Z, h in 0:$H, w in 0:$W",
        "T[n,a,b,d,f,t,x,y] = A[n,c,2*(t+q-1)+a,2*(x+r-1)+b,2*(y+s-1)+d]*K[f,c,q,r,s]"
        " where a in 0:2, b in 0:2, d in 0:2, t in 0:$T, x in 0:$X, y in 0:$Y;"
        "Y[n,f,z,h,w] = T[n,z%2,h%2,w%2,f,z//2,h//2,w//2]"
        " where z in 0:$Z, h in 0:$H, w in 0:$W",
        {"A": "N C Z H W", "K": "F C R R R"},
        at("N1 C128 F128 Z6 H14 W14 R3 T3 X7 Y7"),
        at("N1 C1 F2 Z2 H4 W2 R3 T1 X2 Y1"),
    ),
}
