"""What the explorer shows, as immutable data: the page, the terminal and notebooks read nothing
else."""

from __future__ import annotations

from dataclasses import dataclass

from einderive.frontend.explorer.pieces.lines import Line


@dataclass(frozen=True, slots=True)
class RuleCard:
    """A rule: its identities as text and as MathML, and what it says about itself."""

    name: str
    equations: tuple[str, ...]
    maths: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a program stands in the search: the rewritten tensor's distance to the nearest
    operator, and the predicted seconds of the whole program."""

    distance: float
    nearest: str
    seconds: float


@dataclass(frozen=True, slots=True)
class StepView:
    """One step of a derivation.

    - `witness` says in words how the right side is made from the left one.
    - `bound` says what the names of the identity stand for here, and what the side conditions come
      to.
    - `digits` is its effect on rounding, `nonfinite` that on NaN and infinity.
    - `checked` is the checker's finding: "holds", the reason why it does not, or empty where nobody
      asked.
    """

    number: int
    rule: str
    before: tuple[Line, ...]
    after: tuple[Line, ...]
    equation: str
    math: str
    conditions: str
    witness: str
    bound: tuple[tuple[str, str], ...]
    come_from: Place
    leads_to: Place
    digits: str
    nonfinite: str
    checked: str = ""

    @property
    def holds(self) -> bool:
        return self.checked == HOLDS


HOLDS = "holds"


@dataclass(frozen=True, slots=True)
class Share:
    """What takes a stage's predicted time: `seconds` for one of its causes."""

    cause: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Roof:
    """The least seconds of a stage by the roofline of the machine, and what bounds it there:
    `arithmetic` or `memory`."""

    seconds: float
    bound: str


@dataclass(frozen=True, slots=True)
class StageView:
    """One stage of a program.

    `shares` are the parts of its predicted time: those that add up; `reads` are the names of the
    tensors that it reads, stages and inputs.  `measured` are the seconds of the stage alone."""

    name: str
    line: Line
    operator: str
    known: bool
    shape: tuple[int, ...]
    reads: tuple[str, ...]
    operations: float
    bytes_moved: float
    seconds: float | None
    shares: tuple[Share, ...]
    bound: str
    pseudocode: str
    roof: Roof | None = None
    measured: float | None = None

    @property
    def reached(self) -> float | None:
        """The part of the roofline's rate that was measured, or else is predicted."""
        taken = self.measured if self.measured is not None else self.seconds
        return None if self.roof is None or not taken else self.roof.seconds / taken


@dataclass(frozen=True, slots=True)
class Box:
    """A node of the drawn program: a stage or an input."""

    name: str
    label: str
    x: float
    y: float
    width: float
    given: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """The stages as a graph: boxes, and the curves of SVG between them."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    curves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeView:
    """A text in pieces: the kind of each, such as `keyword`, or `""`, and the piece."""

    name: str
    pieces: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces)


@dataclass(frozen=True, slots=True)
class LaunchView:
    """A configuration of a kernel: its words, its time, what it takes of a GPU's memory."""

    words: str
    seconds: str
    takes: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class KernelView:
    """A generated kernel: the `names` and `lines` of the stages that it computes, `instead` of
    which library operators it may run, where its text comes from, plan, source, configurations."""

    names: str
    lines: tuple[Line, ...]
    language: str
    instead: str
    origin: str
    plan: str
    code: CodeView
    launches: tuple[LaunchView, ...]


@dataclass(frozen=True, slots=True)
class CandidateView:
    """A program with its derivation: the steps that lead to it, its stages, its predicted time,
    the kernels that are generated for it."""

    number: int
    title: str
    given: tuple[Line, ...]
    steps: tuple[StepView, ...]
    stages: tuple[StageView, ...]
    drawing: Drawing
    narrow: Drawing
    seconds: float
    operators: str
    digits: str
    assumptions: str
    findings: tuple[str, ...]
    kernels: tuple[KernelView, ...] = ()


@dataclass(frozen=True, slots=True)
class HardView:
    """The error on one family of hard inputs, beside that of the formula as written."""

    family: str
    error: str
    written: str
    lost: str


@dataclass(frozen=True, slots=True)
class TrialView:
    """A program that was built and judged.

    - `width` is its time as a part of the longest one's among those that raced, in percent, or 100
      where it lies `beyond`.
    - `spread` is the half of the middle half of its times, `whisker` where this begins and how wide
      it is.
    - `worst` is its largest error on hard inputs.
    """

    label: str
    words: str
    seconds: str
    spread: str
    width: float
    beyond: bool
    whisker: tuple[float, float]
    predicted: str
    predicted_width: float
    speed: str
    error: str
    worst: str
    verdict: str
    accepted: bool
    chosen: bool
    hard: tuple[HardView, ...]
    loss: str
    source: CodeView | None


@dataclass(frozen=True, slots=True)
class MeasuredView:
    """The programs that were timed, and which one was chosen.

    `where` says where and when: on this machine, or as a record states, with its `environment`.
    `underived` says what runs where no derived program does; it is empty where one does.
    `without_loops` says why no loops were compiled; it is empty where some could be."""

    device: str
    where: str
    environment: tuple[tuple[str, str], ...]
    trials: tuple[TrialView, ...]
    verdict: str
    underived: str
    without_loops: str
    warning: str
    assumed: str
    kernels: tuple[CodeView, ...]
    error: str


@dataclass(frozen=True, slots=True)
class PathRow:
    """An expression on the way to the first candidate: the `rule` that reaches it `below` another
    one, its operator, its distance, its predicted time with all that it reads, and when it was
    found."""

    text: str
    rule: str
    below: str
    way: str
    operator: str
    distance: float
    seconds: str
    found: str


@dataclass(frozen=True, slots=True)
class RuleCount:
    """How many equalities a rule gave, how many of these converge, how many were refused."""

    rule: str
    steps: int
    converging: int
    refused: int


@dataclass(frozen=True, slots=True)
class SearchView:
    """The search: the way to the first candidate, counts by rule, what was left out by reason, and
    `data` for the page's script."""

    summary: str
    path: tuple[PathRow, ...]
    rules: tuple[RuleCount, ...]
    pruned: tuple[tuple[str, int], ...]
    data: str


@dataclass(frozen=True, slots=True)
class Cell:
    """An element of a drawn tensor: where it stands, its colour, its index as text."""

    x: int
    y: int
    colour: str
    at: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A tensor as a grid of its elements in order of memory: an input, a stage or an output."""

    name: str
    what: str
    shape: str
    width: int
    height: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class DataProgram:
    """A program on a small instance: its statements, its tensors, how many elements are read, and
    `reads` for the page's script.  `shown` is the element of the output that is marked at first,
    and `rests_on` the elements of other tensors on which it rests."""

    title: str
    statements: tuple[str, ...]
    grids: tuple[Grid, ...]
    counts: str
    reads: str
    shown: tuple[str, int]
    rests_on: frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class DataView:
    """What a derivation does to the data, before and after."""

    words: str
    programs: tuple[DataProgram, ...]


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What repeats a derivation: a command, lines of Python, the versions, the record's text."""

    command: str
    python: str
    versions: tuple[tuple[str, str], ...]
    record: str


@dataclass(frozen=True, slots=True)
class View:
    """Everything that a page shows."""

    title: str
    formula: tuple[Line, ...]
    tensors: str
    target: str
    searched: str
    candidates: tuple[CandidateView, ...]
    baseline_seconds: float
    machine: str
    rules: tuple[RuleCard, ...]
    reproduction: Reproduction
    measured: MeasuredView | None = None
    search: SearchView | None = None
    data: DataView | None = None
