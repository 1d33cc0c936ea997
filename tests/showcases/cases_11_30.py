"""The show-cases beyond the reference's: see `cases.py` for how one is written down."""

from __future__ import annotations

from tests.showcases.cases import Case, at

IMAGE = {"A": "N C H W", "K": "F C R S"}
CHAIN = {"A": "I J", "B": "J K", "C": "K L", "D": "L M"}

FURTHER: dict[str, Case] = {
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
    ),
    "13 moments": Case(
        "Y[i] = (X[i]-Z[j])^2*W[j]",
        "p = W[j]; q = Z[j]*W[j]; r = Z[j]^2*W[j]; Y[i] = X[i]^2*p - 2*X[i]*q + r",
        {"X": "I", "Z": "J", "W": "J"},
        at("I65536 J65536"),
        at("I4 J5"),
    ),
    "13 moments, batched, other names": Case(
        "M[b,s] = (P[b,s]-Q[b,t])*(P[b,s]-Q[b,t])*V[b,t]",
        "p[b] = V[b,t]; q[b] = Q[b,t]*V[b,t]; r[b] = Q[b,t]^2*V[b,t];"
        "M[b,s] = P[b,s]^2*p[b] - 2*P[b,s]*q[b] + r[b]",
        {"P": "B I", "Q": "B J", "V": "B J"},
        at("B7 I30011 J20011"),
        at("B2 I4 J5"),
    ),
}

NOT_YET: dict[str, tuple[str, Case]] = {
    "14 covariance": (
        "the sum of X is computed beside the mean: equal up to a factor is not shared",
        Case(
            "m[i] = X[t,i]/$T; C[i,j] = (X[t,i]-m[i])*(X[t,j]-m[j])",
            "m[i] = X[t,i]/$T; G[i,j] = X[t,i]*X[t,j]; C[i,j] = G[i,j] - $T*m[i]*m[j]",
            {"X": "T I"},
            at("T10000 I512"),
            at("T4 I3"),
        ),
    ),
    "14 covariance of two sets, variables first": (
        "the sum of X is computed beside the mean: equal up to a factor is not shared",
        Case(
            "m[i] = X[i,t]/$T; n[j] = Z[j,t]/$T; C[i,j] = (X[i,t]-m[i])*(Z[j,t]-n[j])",
            "m[i] = X[i,t]/$T; n[j] = Z[j,t]/$T; G[i,j] = X[i,t]*Z[j,t];"
            "C[i,j] = G[i,j] - $T*m[i]*n[j]",
            {"X": "I T", "Z": "J T"},
            at("T5003 I301 J407"),
            at("T4 I3 J2"),
        ),
    ),
}
"""Cases that the rules do not reach yet, each with the reason."""
