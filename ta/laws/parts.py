"""Conjugates, parts and magnitudes of complex numbers; the laws hold for all complex numbers."""

from einderive.ta.laws.data import Law

LAWS = (
    Law("conj-conj", ("conj(conj(x)) = x",), helps=True, keeps="always", parts=True),
    Law(
        "parts-of-conj",
        ("real(conj(x)) = real(x)", "imag(conj(x)) = -imag(x)", "abs(conj(x)) = abs(x)"),
        helps=True,
        keeps="always",
        parts=True,
    ),
    Law(
        "abs-square",
        ("abs(x)^2 = real(x)^2+imag(x)^2",),
        floating="without a root; a part may be NaN beside one that is infinite",
        helps=True,
        keeps="finite",
        parts=True,
    ),
    Law(
        "from-parts",
        ("real(x)+1j*imag(x) = x", "real(x)-1j*imag(x) = conj(x)"),
        floating="the left side is NaN where a part is infinite",
        helps=True,
        keeps="finite",
        parts=True,
    ),
    Law(
        "sum-with-conj",
        ("x+conj(x) = 2*real(x)", "x-conj(x) = 2*1j*imag(x)"),
        floating="the first right side is real",
        parts=True,
    ),
    Law(
        "product-with-conj",
        ("x*conj(x) = abs(x)^2",),
        floating="the right side is real",
        parts=True,
    ),
    Law("conj-sum", ("conj(a+b) = conj(a)+conj(b)",), keeps="always", parts=True),
    Law("conj-product", ("conj(a*b) = conj(a)*conj(b)",), keeps="always", parts=True),
    Law("conj-exp", ("conj(exp(x)) = exp(conj(x))",), keeps="finite", parts=True),
    Law(
        "parts-of-sum",
        ("real(a+b) = real(a)+real(b)", "imag(a+b) = imag(a)+imag(b)"),
        keeps="finite",
        parts=True,
    ),
    Law(
        "parts-of-product",
        (
            "real(a*b) = real(a)*real(b)-imag(a)*imag(b)",
            "imag(a*b) = real(a)*imag(b)+imag(a)*real(b)",
        ),
        floating="the operations that the product of complex numbers is made of",
        parts=True,
    ),
    Law(
        "parts-of-exp",
        (
            "real(exp(x)) = exp(real(x))*cos(imag(x))",
            "imag(exp(x)) = exp(real(x))*sin(imag(x))",
        ),
        floating="exp(real(x)) may overflow",
        parts=True,
    ),
    Law("abs-of-product", ("abs(a*b) = abs(a)*abs(b)",), floating="may overflow", parts=True),
    Law(
        "abs-exp",
        ("abs(exp(x)) = exp(real(x))",),
        floating="the left side is NaN where the imaginary part is infinite",
        helps=True,
        keeps="finite",
        parts=True,
    ),
)
