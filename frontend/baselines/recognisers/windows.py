"""Windows that slide: convolution in both directions, with groups and a bias, and pooling.

Y[n,f,h,w] = A[n,c,h+r-1,w+s-1]*K[f,c,r,s] + B[f]       F.conv2d(A, K, B, padding=(1, 1))
Y[n,c,h,w] = A[n,c,h+r,w+s]*U[c,r]*V[c,s]               F.conv2d(A, (U*V)[:, None], groups=...)
Y[n,c,h] = max[r](A{fill=-inf}[n,c,2*h+r-1])            F.max_pool1d(A, 3, 2, 1)
Y[h,w] = A[h+r,w+s]/49                                  two of F.avg_pool2d, (7, 1) and (1, 7)
Y[f,c,r] = A[n,c,h+r]*D[n,f,h], r in 0:3                torch.nn.grad.conv1d_weight(A, (f, c, 3), D)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import inf, prod

from einderive.derivations.matching.match import match
from einderive.eops.library.conv import CONVOLUTIONS, forward
from einderive.eops.library.conv_transpose import TRANSPOSED_CONVOLUTIONS, backward
from einderive.eops.library.grouped import Convolution
from einderive.eops.library.pool import AVERAGE_POOLS, MAXIMUM_POOLS
from einderive.eops.library.sliding import Slide, bounds_of, slides, view_rows
from einderive.eops.library.weight_gradient import LARGE
from einderive.frontend.baselines.writing.broadcast import scaled
from einderive.frontend.baselines.writing.terms import over, plus
from einderive.frontend.baselines.writing.views import View, aligned, arranged, permuted, view
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Mul, Node, Scope
from einderive.ta.ir.operator import Binding, Operator
from einderive.ta.ir.subst import substitute

Groups = Sequence[Sequence[int]]
WORTH_APART = 2
"""A window with at least this many times the elements of its sides is pooled side by side."""


def convolution(scope: Scope, writer: Writer) -> Written | None:
    if not scope.sums:
        return _with_bias(scope, writer)
    bound = _bound(CONVOLUTIONS, _two_factors(scope))
    return None if bound is None else _called(*bound, forward(bound[1]), writer)


def transposed(scope: Scope, writer: Writer) -> Written | None:
    if not scope.sums:
        return None
    bound = _bound(TRANSPOSED_CONVOLUTIONS, scope)
    if bound is None:
        return None
    count, binding = bound
    work = TRANSPOSED_CONVOLUTIONS[count - 1].work(binding).operations / 2
    return replace(_called(count, binding, backward(binding), writer), work=work)


def weight_gradient(scope: Scope, writer: Writer) -> Written | None:
    """A convolution with a large kernel, as the gradient of another one by its weights."""
    bound = _bound(CONVOLUTIONS, scope) if scope.sums else None
    if bound is None or bound[1].roles["g"]:
        return None
    count, binding = bound
    found, windows, images, kernel = forward(binding)
    outputs = [_computed(slide) for slide in found]
    if prod(slide.kernel for slide in found) < LARGE * prod(outputs):
        return None
    if any(_left_over(slide) >= slide.dilation for slide in found):
        return None
    bounds, roles = bounds_of(binding, found), binding.roles
    domain = [bounds[i] for i in range(len(bounds))]
    data, slopes = (
        _part(operand, part.rows, domain, writer)
        for operand, part in zip(binding.operands, (images, kernel), strict=True)
    )
    xs, rs = ([(i,) for i in part.sliding] for part in (images, kernel))
    x = arranged(data, [roles["c"], roles["n"], *xs], domain)
    d = arranged(slopes, [roles["c"], roles["f"], *rs], domain)
    sizes = [prod(domain[i].extent for i in roles[role]) for role in "fn"]
    options = {**windows._asdict(), "stride": windows.dilation, "dilation": windows.stride}
    given = _options(options, stride=1, padding=0, dilation=1)
    word = f"conv{count}d_weight"
    text = f"torch.nn.grad.{word}({x}, ({', '.join(map(str, (*sizes, *outputs)))}), {d}{given})"
    groups = [roles["f"], roles["n"], *((slide.window.loop,) for slide in found)]
    text = _restored(_cut(text, binding, found), groups, binding)
    return Written(scaled(text, Fraction(binding.coefficient)), word)


def _bound(operators: Sequence[Operator], scope: Scope) -> tuple[int, Binding] | None:
    if scope.empty or scope.reducer not in operators[0].reducers:
        return None
    for number, operator in enumerate(operators, 1):
        found = match(operator, scope)
        if isinstance(found, Binding) and found.coefficient > 0 and found.coefficient != inf:
            return number, found
    return None


def _two_factors(scope: Scope) -> Scope:
    """A product of three factors and more as the one that slides times the others, which become
    one tensor: a kernel of several parts is put together first."""
    coefficient, core = expr.split_coefficient(scope.body)
    if scope.reducer != "sum" or not isinstance(core, Mul) or len(core.factors) < 3:
        return scope
    reads = (factor for factor in core.factors if isinstance(factor, Access))
    sliding = [read for read in reads if any(len(row.terms) > 1 for row in read.rows)]
    if len(sliding) != 1:
        return scope
    rest = expr.mul(*(f for f in core.factors if f is not sliding[0]))
    held = affine.bits(rest.free)
    own = {i: affine.iterator(place) for place, i in enumerate(held)}
    kernel = make_scope([scope.domain[i] for i in held], (), substitute(rest, own))
    read = expr.access(kernel, [affine.iterator(i) for i in held])
    body = expr.mul(expr.const(coefficient), sliding[0], read)
    return make_scope(scope.loops, scope.sums, body)


def _with_bias(scope: Scope, writer: Writer) -> Written | None:
    found = plus(scope)
    if found is None or found.coefficient != 1 or found.scale != 1:
        return None
    bound = _bound(CONVOLUTIONS, _two_factors(found.inner))
    if bound is None or bound[1].coefficient != 1:
        return None
    roles = bound[1].roles
    if not over(found.rest, (*roles["g"], *roles["f"]), scope.loops) or len(found.rest.rows) != 1:
        return None
    bias = view(found.rest, scope.loops, writer).text
    return _called(*bound, forward(bound[1]), writer, bias)


def _called(
    count: int, binding: Binding, found: Convolution, writer: Writer, bias: str = ""
) -> Written:
    slides, windows, images, kernel = found
    bounds, roles = bounds_of(binding, slides), binding.roles
    domain = [bounds[i] for i in range(len(bounds))]
    data, weights = (
        _part(operand, part.rows, domain, writer)
        for operand, part in zip(binding.operands, (images, kernel), strict=True)
    )
    outer, inner = (roles[role] for role in found.roles)
    xs, rs = ([(i,) for i in part.sliding] for part in (images, kernel))
    x = arranged(data, [roles["n"], (*roles["g"], *roles["c"]), *xs], domain)
    w = arranged(weights, [(*roles["g"], *outer), inner, *rs], domain)
    options = _options(windows._asdict(), stride=1, padding=0, dilation=1)
    if windows.groups > 1:
        options += f", groups={windows.groups}"
    word = f"conv{'_transpose' * windows.transposed}{count}d"
    text = f"F.{word}({x}, {w}{', ' + bias if bias else ''}{options})"
    return Written(_result(text, binding, slides), word)


def pooling(scope: Scope, writer: Writer, *, apart: bool = False) -> Written | None:
    """With `apart`, one dimension after the other, where windows have many elements."""
    if not scope.sums:
        return None
    average = scope.reducer == "sum"
    bound = _bound(AVERAGE_POOLS if average else MAXIMUM_POOLS, scope)
    if bound is None:
        return None
    count, binding = bound
    found = slides(binding, pads_with=0 if average else -inf, pooling=True)
    bounds = bounds_of(binding, found)
    (a,) = binding.operands
    domain = [bounds[i] for i in range(len(bounds))]
    images = _part(a, view_rows(a, found), domain, writer)
    batch = binding.roles["b"]
    tail = [(slide.position,) for slide in found]
    lead: Groups = [batch[:1], batch[1:]] if len(batch) != 1 else [batch]
    x = arranged(images, [*lead, *tail], domain)
    word = f"{'avg' if average else 'max'}_pool{count}d"
    kernel = [slide.kernel for slide in found]
    if apart and prod(kernel) < WORTH_APART * sum(kernel):
        return None
    text, coefficient = x, binding.coefficient * prod(kernel if average else ())
    for passed in [[slide] for slide in found] if apart else [found]:
        here = [slide if slide in passed else None for slide in found]
        given = {
            name: [usual if slide is None else getattr(slide, name) for slide in here]
            for name, usual in (("kernel", 1), ("stride", 1), ("padding", 0), ("dilation", 1))
        }
        options = f", stride={_sizes(given['stride'])}"
        options += _options(given, padding=0, dilation=1)
        text = f"F.{word}({text}, {_sizes(given['kernel'])}{options})"
    groups = [*lead, *((slide.window.loop,) for slide in found)]
    text = _restored(_wanted(text, found, _computed), groups, binding)
    return Written(scaled(text, coefficient), word)


def _part(read: Access, rows: Sequence[Row], domain: Sequence[Range], writer: Writer) -> View:
    node: Node = expr.access(read.source, tuple(rows), read.fill)
    assert isinstance(node, Access)
    return view(node, domain, writer)


def _options(given: Mapping[str, Sequence[int]], **usual: int) -> str:
    unusual = (name for name, value in usual.items() if set(given[name]) != {value})
    return "".join(f", {name}={_sizes(given[name])}" for name in unusual)


def _sizes(values: Sequence[int]) -> str:
    return str(values[0]) if len(set(values)) == 1 else f"({', '.join(map(str, values))})"


def _wanted(text: str, found: Sequence[Slide], computed: Callable[[Slide], int]) -> str:
    """Without what the library computes before the first output that is asked for, and after the
    last."""
    if not any(slide.skipped or computed(slide) != slide.extent for slide in found):
        return text
    cuts = [f"{slide.skipped or ''}:{slide.skipped + slide.extent}" for slide in found]
    return f"{text}[..., {', '.join(cuts)}]"


def _computed(slide: Slide) -> int:
    return _reach(slide) // slide.stride + 1


def _left_over(slide: Slide) -> int:
    """The places after the last one that the kernel reads."""
    return _reach(slide) % slide.stride


def _reach(slide: Slide) -> int:
    return slide.bound.extent + 2 * slide.padding - slide.dilation * (slide.kernel - 1) - 1


def _result(text: str, binding: Binding, found: Sequence[Slide]) -> str:
    roles = binding.roles
    channels = (*roles["g"], *roles["f"])
    groups = [roles["n"], channels, *((slide.window.loop,) for slide in found)]
    text = _restored(_cut(text, binding, found), groups, binding)
    return scaled(text, Fraction(binding.coefficient))


def _cut(text: str, binding: Binding, found: Sequence[Slide]) -> str:
    forward = all(binding.operands[0] is binding.operands[s.window.operand] for s in found)
    return _wanted(text, found, _computed if forward else partial(_stretched, binding))


def _stretched(binding: Binding, slide: Slide) -> int:
    inputs = binding.scope.domain[slide.window.reduction].extent
    return (inputs - 1) * slide.dilation + slide.bound.extent - 2 * slide.padding


def _restored(text: str, groups: Groups, binding: Binding) -> str:
    """The call's dimensions as the scope's loops."""
    scope = binding.scope
    dims = tuple(i for group in groups for i in group)
    if any(len(group) > 1 for group in groups):
        sizes = ", ".join(str(scope.domain[i].extent) for i in dims)
        text = f"{text}.reshape({sizes})"
    elif any(not group for group in groups):
        index = [":" if group else "0" for group in groups]
        while index[-1] == ":":
            index.pop()
        text = f"{text}[{', '.join(index)}]"
    missing = set(range(len(scope.loops))) - set(dims)
    if missing:  # of extent 1
        return f"{aligned(View(text, dims), range(len(scope.loops)))}.reshape({scope.shape})"
    return permuted(View(text, dims), range(len(scope.loops)))


WEIGHT_GRADIENT = Recogniser(weight_gradient)
CONVOLUTION = Recogniser(convolution)
TRANSPOSED = Recogniser(transposed)
APART = Recogniser(partial(pooling, apart=True))
POOLING = Recogniser(pooling)
