"""The show-cases: a computation, and the best program that one writes for it by hand.

Both are texts in the notation, in which `$N` stands for a size; `tensors` gives each tensor's
dimensions as sizes or numbers.  `sizes` are those of use, `small` those at which the two programs
are compared by exact evaluation.  Cases 1 to 10 are the reference system's (OSDI'23); their
hand-written program is the one that it derives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template
from typing import Any

from einderive.frontend.accuracy.levels import Accuracy


@dataclass(frozen=True)
class Case:
    """`listed`: the hand-written program itself is to be among the candidates, even where a
    cheaper one was found.  `weights` are the tensors that stay the same from call to call.  `fast`:
    a difference is multiplied out as it is, which by default is not done.  `within`: the best
    candidate takes at most this many times the hand-written program's predicted time."""

    formula: str
    hand: str
    tensors: Mapping[str, str]
    sizes: Mapping[str, int]
    small: Mapping[str, int]
    listed: bool = False
    weights: tuple[str, ...] = ()
    fast: bool = False
    within: float = 1.001

    @property
    def accuracy(self) -> Accuracy:
        return "fast" if self.fast else "normwise"

    def problem(self, text: str, sizes: Mapping[str, int]) -> tuple[str, dict[str, Any]]:
        """The text with the sizes filled in, and the shapes of the tensors it reads."""
        shapes = {
            name: tuple(int(d) if d.isdigit() else sizes[d] for d in dimensions.split())
            for name, dimensions in self.tensors.items()
        }
        return Template(text).substitute(sizes), shapes


def at(text: str = "", **sizes: int) -> dict[str, int]:
    """Sizes as `at("N1 H7", C=512)` or by keyword alone."""
    return {word[0]: int(word[1:]) for word in text.split()} | sizes


CONV = {"A": "N H W C", "K": "R S F C"}
CONV_NCHW = {"I": "N C H W", "W": "F C R S"}
SMALL_CONV = at("N2 H5 W4 C2 F3")

REFERENCE: dict[str, Case] = {
    "1 conv 3x3 as matmul and shifted addition": Case(
        "Y[n,h,w,f] = A[n,h+r-1,w+s-1,c]*K[r,s,f,c] where h in 0:$H, w in 0:$W",
        "T[n,h,w,r,s,f] = A[n,h,w,c]*K[r,s,f,c];"
        "Y[n,h,w,f] = T[n,h+r-1,w+s-1,r,s,f] where h in 0:$H, w in 0:$W",
        CONV,
        at("N1 H7 W7 C512 F512 R3 S3"),
        SMALL_CONV | at("R3 S3"),
        listed=True,
    ),
    "1 conv 3x3, NCHW, other names": Case(
        "O[b,o,y,x] = I[b,i,y+p-1,x+q-1]*W[o,i,p,q] where y in 0:$H, x in 0:$W",
        "T[b,y,x,p,q,o] = I[b,i,y,x]*W[o,i,p,q];"
        "O[b,o,y,x] = T[b,y+p-1,x+q-1,p,q,o] where y in 0:$H, x in 0:$W",
        CONV_NCHW,
        at("N1 H14 W14 C256 F256 R3 S3"),
        SMALL_CONV | at("R3 S3"),
        listed=True,
    ),
    "1 conv 3x3 without padding, prime sizes": Case(
        "Y[n,h,w,f] = A[n,h+r,w+s,c]*K[r,s,f,c] where h in 0:$X, w in 0:$Z",
        "T[n,h,w,r,s,f] = A[n,h,w,c]*K[r,s,f,c];"
        "Y[n,h,w,f] = T[n,h+r,w+s,r,s,f] where h in 0:$X, w in 0:$Z",
        CONV,
        at("N1 H13 W11 C509 F251 R3 S3 X11 Z9"),
        SMALL_CONV | at("R3 S3 X3 Z2"),
        listed=True,
    ),
    "2 conv 1x7 as matmul and shifted addition": Case(
        "Y[n,h,w,f] = A[n,h,w+s-3,c]*K[s,f,c] where w in 0:$W",
        "T[n,h,w,s,f] = A[n,h,w,c]*K[s,f,c]; Y[n,h,w,f] = T[n,h,w+s-3,s,f] where w in 0:$W",
        {"A": "N H W C", "K": "S F C"},
        at("N1 H7 W7 C2048 F128 S7"),
        SMALL_CONV | at("S7"),
        listed=True,
    ),
    "2 conv 7x1, NCHW": Case(
        "O[n,o,y,x] = I[n,c,y+p-3,x]*W[o,c,p] where y in 0:$H",
        "T[n,y,x,p,o] = I[n,c,y,x]*W[o,c,p]; O[n,o,y,x] = T[n,y+p-3,x,p,o] where y in 0:$H",
        {"I": "N C H W", "W": "F C R"},
        at("N2 H9 W11 C1024 F96 R7"),
        SMALL_CONV | at("R7"),
        listed=True,
    ),
    "2 conv 1x5, padded at the front only": Case(
        "Y[n,h,w,f] = A[n,h,w+s-4,c]*K[s,f,c] where w in 0:$W",
        "T[n,h,w,s,f] = A[n,h,w,c]*K[s,f,c]; Y[n,h,w,f] = T[n,h,w+s-4,s,f] where w in 0:$W",
        {"A": "N H W C", "K": "S F C"},
        at("N1 H7 W13 C1000 F100 S5"),
        SMALL_CONV | at("S5"),
        listed=True,
    ),
    "3 conv 1x1": Case(
        "Y[n,h,w,f] = A[n,h,w,c]*K[f,c]",
        "Y[n,h,w,f] = A[n,h,w,c]*K[f,c]",
        {"A": "N H W C", "K": "F C"},
        at("N1 H7 W7 C512 F512"),
        SMALL_CONV,
        listed=True,
    ),
    "3 conv 1x1 with a window of one": Case(
        "Y[n,h,w,f] = A[n,h+r,w+s,c]*K[r,s,f,c] where h in 0:$H, w in 0:$W",
        "Y[n,h,w,f] = A[n,h,w,c]*K[0,0,f,c]",
        CONV,
        at("N1 H7 W9 C500 F300 R1 S1"),
        SMALL_CONV | at("R1 S1"),
    ),
    "3 conv 1x1, NCHW": Case(
        "O[b,o,y,x] = I[b,i,y,x]*W[o,i]",
        "O[b,o,y,x] = W[o,i]*I[b,i,y,x]",
        {"I": "N C H W", "W": "F C"},
        at("N3 H7 W7 C512 F96"),
        SMALL_CONV,
        listed=True,
    ),
    "4 conv 5x5 as conv 3x3 and shifted addition": Case(
        "Y[n,h,w,f] = A[n,h+r-2,w+s-2,c]*K[r,s,f,c] where h in 0:$H, w in 0:$W",
        "T[n,x,y,f,p,q] = A[n,x+r-2,y+s-2,c]*K[r+3*p,s+3*q,f,c]"
        " where x in 0:$X, y in 0:$Z, r in 0:3, s in 0:3, p in 0:2, q in 0:2;"
        "Y[n,h,w,f] = T[n,h+3*p,w+3*q,f,p,q] where h in 0:$H, w in 0:$W",
        CONV,
        at("N16 H224 W224 C32 F1 R5 S5 X226 Z226"),
        at("N1 H5 W4 C2 F1 R5 S5 X7 Z6"),
    ),
    "4 conv 5x5, NCHW, two outputs": Case(
        "O[b,o,y,x] = I[b,i,y+p-2,x+q-2]*W[o,i,p,q] where y in 0:$H, x in 0:$W",
        "T[b,o,u,v,y,x] = I[b,i,y+p-2,x+q-2]*W[o,i,p+3*u,q+3*v]"
        " where y in 0:$X, x in 0:$Z, p in 0:3, q in 0:3, u in 0:2, v in 0:2;"
        "O[b,o,y,x] = T[b,o,u,v,y+3*u,x+3*v] where y in 0:$H, x in 0:$W",
        CONV_NCHW,
        at("N8 H150 W150 C24 F2 R5 S5 X152 Z152"),
        at("N1 H5 W4 C2 F2 R5 S5 X7 Z6"),
    ),
    "4 conv 5x5 without padding": Case(
        "Y[n,h,w,f] = A[n,h+r,w+s,c]*K[r,s,f,c] where h in 0:$X, w in 0:$Z",
        "T[n,x,y,f,p,q] = A[n,x+r,y+s,c]*K[r+3*p,s+3*q,f,c]"
        " where x in 0:$H, y in 0:$W, r in 0:3, s in 0:3, p in 0:2, q in 0:2;"
        "Y[n,h,w,f] = T[n,h+3*p,w+3*q,f,p,q] where h in 0:$X, w in 0:$Z",
        CONV,
        at("N16 H113 W107 C32 F1 R5 S5 X109 Z103"),
        at("N1 H7 W6 C2 F1 R5 S5 X3 Z2"),
    ),
    "5 conv 6x6 as conv 3x3 and shifted addition": Case(
        "Y[n,h,w,f] = A[n,h+r-2,w+s-2,c]*K[r,s,f,c] where h in 0:$H, w in 0:$W",
        "T[n,x,y,f,p,q] = A[n,x+r-2,y+s-2,c]*K[r+3*p,s+3*q,f,c]"
        " where x in 0:$X, y in 0:$Z, r in 0:3, s in 0:3, p in 0:2, q in 0:2;"
        "Y[n,h,w,f] = T[n,h+3*p,w+3*q,f,p,q] where h in 0:$H, w in 0:$W",
        CONV,
        at("N1 H224 W224 C16 F64 R6 S6 X227 Z227"),
        at("N1 H5 W4 C2 F2 R6 S6 X8 Z7"),
    ),
    "5 conv 9x9": Case(
        "Y[n,h,w,f] = A[n,h+r-4,w+s-4,c]*K[r,s,f,c] where h in 0:$H, w in 0:$W",
        "T[n,x,y,f,p,q] = A[n,x+r-4,y+s-4,c]*K[r+3*p,s+3*q,f,c]"
        " where x in 0:$X, y in 0:$Z, r in 0:3, s in 0:3, p in 0:3, q in 0:3;"
        "Y[n,h,w,f] = T[n,h+3*p,w+3*q,f,p,q] where h in 0:$H, w in 0:$W",
        CONV,
        at("N8 H224 W224 C16 F32 R9 S9 X230 Z230"),
        at("N1 H5 W4 C2 F2 R9 S9 X11 Z10"),
    ),
    "5 conv 6x6, NCHW, without padding": Case(
        "O[b,o,y,x] = I[b,i,y+p,x+q]*W[o,i,p,q] where y in 0:$U, x in 0:$V",
        "T[b,o,u,v,y,x] = I[b,i,y+p,x+q]*W[o,i,p+3*u,q+3*v]"
        " where y in 0:$X, x in 0:$Z, p in 0:3, q in 0:3, u in 0:2, v in 0:2;"
        "O[b,o,y,x] = T[b,o,u,v,y+3*u,x+3*v] where y in 0:$U, x in 0:$V",
        CONV_NCHW,
        at("N2 H101 W97 C16 F64 R6 S6 X99 Z95 U96 V92"),
        at("N1 H7 W8 C2 F2 R6 S6 X5 Z6 U2 V3"),
    ),
    "6 transposed conv 4x4, stride 2, as matmul and gathered sum": Case(
        "Y[n,h,w,f] = A[n,i,j,c]*K[h+1-2*i,w+1-2*j,f,c] where h in 0:$X, w in 0:$Z",
        "T[n,i,j,r,s,f] = A[n,i,j,c]*K[r,s,f,c];"
        "Y[n,h,w,f] = T[n,i,j,h+1-2*i,w+1-2*j,f] where h in 0:$X, w in 0:$Z",
        CONV,
        at("N16 H2 W2 C448 F256 R4 S4 X4 Z4"),
        at("N2 H2 W2 C2 F2 R4 S4 X4 Z4"),
        listed=True,
    ),
    "6 transposed conv 4x4, stride 2, NCHW": Case(
        "O[b,o,y,x] = I[b,i,u,v]*W[i,o,y+1-2*u,x+1-2*v] where y in 0:$X, x in 0:$Z",
        "T[b,u,v,p,q,o] = I[b,i,u,v]*W[i,o,p,q];"
        "O[b,o,y,x] = T[b,u,v,y+1-2*u,x+1-2*v,o] where y in 0:$X, x in 0:$Z",
        {"I": "N C H W", "W": "C F R S"},
        at("N16 H4 W4 C256 F128 R4 S4 X8 Z8"),
        at("N2 H2 W3 C2 F2 R4 S4 X4 Z6"),
        listed=True,
    ),
    "6 transposed conv 5x5, stride 2, no padding": Case(
        "Y[n,h,w,f] = A[n,i,j,c]*K[h-2*i,w-2*j,f,c] where h in 0:$X, w in 0:$Z",
        "T[n,i,j,r,s,f] = A[n,i,j,c]*K[r,s,f,c];"
        "Y[n,h,w,f] = T[n,i,j,h-2*i,w-2*j,f] where h in 0:$X, w in 0:$Z",
        CONV,
        at("N4 H3 W3 C500 F100 R5 S5 X9 Z9"),
        at("N1 H3 W3 C2 F2 R5 S5 X9 Z9"),
        listed=True,
    ),
    "7 dilated band matmul, wide": Case(
        "Y[b,m,w] = A[b,m,k]*B[b,m+4*(w-$W),k] where w in 0:$V",
        "T[b,p,q,t] = A[b,4*q+p,k]*B[b,4*t+p,k] where p in 0:4, q in 0:$Q, t in 0:$Q;"
        "Y[b,m,w] = T[b,m%4,m//4,m//4+w-$W] where m in 0:$M, w in 0:$V",
        {"A": "B M K", "B": "B M K"},
        at("B8 M10000 K64 W1000 V2001 Q2500"),
        at("B2 M24 K2 W4 V9 Q6"),
    ),
    "7 dilated band matmul, narrow": Case(
        "Y[b,m,w] = A[b,m,k]*B[b,m+4*(w-$W),k] where w in 0:$V",
        "T[b,p,u,v,t] = A[b,4*($T*u+v)+p,k]*B[b,4*($T*u+t-$W)+p,k]"
        " where p in 0:4, u in 0:$U, v in 0:$T, t in 0:$S;"
        "Y[b,m,w] = T[b,m%4,m//4//$T,(m//4)%$T,(m//4)%$T+w] where m in 0:$M, w in 0:$V",
        {"A": "B M K", "B": "B M K"},
        at("B1 M10000 K512 W32 V65 T50 U50 S114"),
        at("B2 M24 K2 W2 V5 T3 U2 S7"),
    ),
    "7 band, dilation 3, features first, sizes that do not divide": Case(
        "Z[w,i,g] = C[k,i,g]*D[k,i+3*w-3*$W,g] where w in 0:$V",
        "T[p,u,v,t,g] = C[k,3*($T*u+v)+p,g]*D[k,3*($T*u+t-$W)+p,g]"
        " where p in 0:3, u in 0:$U, v in 0:$T, t in 0:$S;"
        "Z[w,i,g] = T[i%3,i//3//$T,(i//3)%$T,(i//3)%$T+w,g] where i in 0:$M, w in 0:$V",
        {"C": "K M B", "D": "K M B"},
        at("B5 M2000 K48 W16 V33 T29 U23 S61"),
        at("B2 M20 K2 W2 V5 T3 U3 S7"),
    ),
    "8 dilated band times matrix": Case(
        "Y[b,m,n] = P[b,m,w]*V[b,m+4*(w-$W),n]",
        "T[b,p,q,n] = P[b,4*q+p,t-q+$W]*V[b,4*t+p,n] where p in 0:4, q in 0:$Q, t in 0:$Q;"
        "Y[b,m,n] = T[b,m%4,m//4,n] where m in 0:$M",
        {"P": "B M U", "V": "B M N"},
        at("B2 M10000 N64 W200 U401 Q2500"),
        at("B2 M24 N2 W4 U9 Q6"),
    ),
    "8 band, dilation 2, features first": Case(
        "O[e,i,g] = P[w,i,g]*V[e,i+2*w-2*$W,g]",
        "T[e,p,q,g] = P[t-q+$W,2*q+p,g]*V[e,2*t+p,g] where p in 0:2, q in 0:$Q, t in 0:$Q;"
        "O[e,i,g] = T[e,i%2,i//2,g] where i in 0:$M",
        {"P": "U M B", "V": "N M B"},
        at("B4 M1024 N64 W200 U401 Q512"),
        at("B2 M12 N2 W2 U5 Q6"),
    ),
    "8 band, dilation 4, sizes that do not divide": Case(
        "Y[b,m,n] = P[b,m,w]*V[b,m+4*(w-$W),n]",
        "T[b,p,q,n] = P[b,4*q+p,t-q+$W]*V[b,4*t+p,n] where p in 0:4, q in 0:$Q, t in 0:$Q;"
        "Y[b,m,n] = T[b,m%4,m//4,n] where m in 0:$M",
        {"P": "B M U", "V": "B M N"},
        at("B6 M4001 N48 W500 U1001 Q1001"),
        at("B2 M23 N2 W4 U9 Q6"),
    ),
    "9 dilated conv 3x3 as dense conv on phases": Case(
        "Y[n,f,h,w] = A[n,c,h+2*r-2,w+2*s-2]*K[f,c,r,s] where h in 0:$H, w in 0:$W",
        "T[n,a,b,f,x,y] = A[n,c,2*(x+r-1)+a,2*(y+s-1)+b]*K[f,c,r,s]"
        " where a in 0:2, b in 0:2, x in 0:$X, y in 0:$Z;"
        "Y[n,f,h,w] = T[n,h%2,w%2,f,h//2,w//2] where h in 0:$H, w in 0:$W",
        {"A": "N C H W", "K": "F C R S"},
        at("N1 C512 F512 H14 W14 R3 S3 X7 Z7"),
        at("N1 C2 F2 H6 W4 R3 S3 X3 Z2"),
    ),
    "9 dilated conv 3x3, NHWC, odd sizes": Case(
        "O[n,h,w,f] = I[n,h+2*r-2,w+2*s-2,c]*W[r,s,f,c] where h in 0:$H, w in 0:$W",
        "T[n,a,b,x,y,f] = I[n,2*(x+r-1)+a,2*(y+s-1)+b,c]*W[r,s,f,c]"
        " where a in 0:2, b in 0:2, x in 0:$X, y in 0:$Z;"
        "O[n,h,w,f] = T[n,h%2,w%2,h//2,w//2,f] where h in 0:$H, w in 0:$W",
        {"I": "N H W C", "W": "R S F C"},
        at("N2 C256 F128 H15 W13 R3 S3 X8 Z7"),
        at("N1 C2 F2 H5 W3 R3 S3 X3 Z2"),
    ),
    "9 dilated conv 3x3, dilation 3, no padding": Case(
        "Y[n,f,h,w] = A[n,c,h+3*r,w+3*s]*K[f,c,r,s] where h in 0:$U, w in 0:$V",
        "T[n,a,b,f,x,y] = A[n,c,3*x+3*r+a,3*y+3*s+b]*K[f,c,r,s]"
        " where a in 0:3, b in 0:3, x in 0:$X, y in 0:$Z;"
        "Y[n,f,h,w] = T[n,h%3,w%3,f,h//3,w//3] where h in 0:$U, w in 0:$V",
        {"A": "N C H W", "K": "F C R S"},
        at("N1 C128 F128 H24 W24 R3 S3 X6 Z6 U18 V18"),
        at("N1 C2 F2 H9 W9 R3 S3 X1 Z1 U3 V3"),
    ),
    "10 im2col: conv 6x6 as one matmul": Case(
        "Y[n,h,w,f] = A[n,h+r-2,w+s-2,c]*K[r,s,f,c] where h in 0:$H, w in 0:$W",
        "T[n,h,w,r,s,c] = A[n,h+r-2,w+s-2,c] where h in 0:$H, w in 0:$W, r in 0:6, s in 0:6;"
        "Y[n,h,w,f] = T[n,h,w,r,s,c]*K[r,s,f,c]",
        CONV,
        at("N1 H224 W224 C16 F64 R6 S6"),
        at("N1 H5 W4 C2 F2 R6 S6"),
    ),
    "10 im2col, dilated conv, NCHW": Case(
        "O[b,o,y,x] = I[b,i,y+2*p-2,x+2*q-2]*W[o,i,p,q] where y in 0:$H, x in 0:$W",
        "T[b,y,x,i,p,q] = I[b,i,y+2*p-2,x+2*q-2]"
        " where y in 0:$H, x in 0:$W, p in 0:3, q in 0:3;"
        "O[b,o,y,x] = T[b,y,x,i,p,q]*W[o,i,p,q]",
        CONV_NCHW,
        at("N1 H14 W14 C512 F512 R3 S3"),
        at("N1 H5 W4 C2 F2 R3 S3"),
    ),
    "10 im2col, conv 5x5 without padding, prime sizes": Case(
        "Y[n,h,w,f] = A[n,h+r,w+s,c]*K[r,s,f,c] where h in 0:$X, w in 0:$Z",
        "T[n,h,w,r,s,c] = A[n,h+r,w+s,c] where h in 0:$X, w in 0:$Z, r in 0:5, s in 0:5;"
        "Y[n,h,w,f] = T[n,h,w,r,s,c]*K[r,s,f,c]",
        CONV,
        at("N2 H101 W97 C13 F67 R5 S5 X97 Z93"),
        at("N1 H6 W7 C2 F2 R5 S5 X2 Z3"),
    ),
}
