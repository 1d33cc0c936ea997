"""`einderive cache`: what `compile` remembers, and the kernels that are kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from einderive.frontend.cli.codes import DONE, FAILED
from einderive.frontend.cli.parameters import FILE, JSON, examples, say

if TYPE_CHECKING:
    from einderive.frontend.memory.store import Kept

KINDS = ("derivation", "choice")
"""What is listed; `einderive machine` shows the profile."""
KERNELS = {
    "kernels": "compiled loops",
    "triton": "sources of Triton kernels",
    "configurations": "Triton kernels with timed configurations",
}
"""Folders beside the store that back ends fill."""


@click.group(
    short_help="Show, export, import or clear the results of compile on disk.",
    epilog=examples("cache"),
)
def cache() -> None:
    """Manage what `compile` keeps on disk: derivations, choices of programs, and kernels.

    The environment variable EINDERIVE_CACHE names the folder, or is `off`.
    """


@cache.command(epilog=examples("cache info"))
@JSON
def info(as_json: bool) -> int:
    """Show the folder, its contents and problems."""
    from rich.text import Text

    from einderive.frontend.memory.kept import store
    from einderive.frontend.report.data import json_text
    from einderive.frontend.report.terminal import labelled, show

    kept = store()
    state = kept.state()
    kinds = [one.kind for one in kept.every()]
    counts = {f"{kind}s": kinds.count(kind) for kind in KINDS}
    folders = {words: _folder(name) for name, words in KERNELS.items()}
    if as_json:
        print(json_text(state._asdict() | {"kept": counts, "folders": folders}))
        return DONE
    show(Text(state.place or "nothing is kept", "bold"))
    if state.problem:
        show(Text(f"  {state.problem}", "red"))
    numbers = f"{counts['derivations']} derivations, {counts['choices']} choices"
    show(labelled("kept", numbers))
    show(labelled("size", f"{_size(state.size)}; texts of at most {_size(state.most)} are kept"))
    if state.journal:
        log = (
            "write-ahead log" if state.journal == "wal" else f"{state.journal}, no write-ahead log"
        )
        show(labelled("journal", log))
    for words, found in folders.items():
        show(labelled("files", f"{found.files} {words}, {_size(found.size)}"))
    return DONE


@cache.command("list", epilog=examples("cache list"))
@JSON
def list_all(as_json: bool) -> int:
    """List the derivations and choices on disk.

    Those that were used last come first.
    """
    from einderive.frontend.memory.kept import store
    from einderive.frontend.report.data import json_text
    from einderive.frontend.report.terminal import LONGEST, show, with_heads

    rows = [_row(kept) for kept in store().every() if kept.kind in KINDS]
    if as_json:
        print(json_text(rows))
    elif rows:
        heads = ("used", "kind", "result", "formula")
        show(
            with_heads(heads, heads, [[row[head] for head in heads] for row in rows]), width=LONGEST
        )
    else:
        print("nothing is remembered")
    return DONE


@cache.command("export", epilog=examples("cache export"))
@click.argument("file", type=FILE)
@JSON
def export_all(file: str, as_json: bool) -> int:
    """Write the derivations as JSON, for another machine.

    Choices and kernels are left out: they are valid for this machine only.
    """
    from einderive.frontend.compile.exchange import export_memory
    from einderive.frontend.text import counted

    count = export_memory(file)
    data = {"derivations": count, "file": file}
    say(as_json, data, f"wrote {counted(count, 'derivation')} to {file}")
    return DONE


@cache.command("import", epilog=examples("cache import"))
@click.argument("file", type=FILE)
@JSON
def import_all(file: str, as_json: bool) -> int:
    """Check the derivations of a file, and keep them.

    A derivation is kept if every step of every candidate is verified. Nothing in the file is
    executed. The first compile times the candidates on this machine, without a search.

    Exit codes: 0 all are kept; 1 some are refused; 2 the file cannot be used.
    """
    from rich.text import Text

    from einderive.frontend.report.terminal import Progress, indented, show

    with Progress() as progress:
        progress.write("loading the checker")
        from einderive.frontend.compile.exchange import import_memory
        from einderive.frontend.report.data import json_text
        from einderive.frontend.text import counted

        found = list(import_memory(file, progress.write))
    refused = [one for one in found if one.refused]
    if as_json:
        print(json_text([{"formula": one.formula, "refused": one.refused} for one in found]))
    else:
        print(f"remembered {counted(len(found) - len(refused), 'derivation')}")
        for one in refused:
            show(Text(f"refused: {one.formula}", "red"), indented(one.refused))
    return FAILED if refused else DONE


@cache.command(epilog=examples("cache clear"))
@JSON
def clear(as_json: bool) -> int:
    """Delete what is kept, kernels too."""
    from einderive.frontend.memory.kept import store
    from einderive.frontend.text import counted

    texts = store().clear()
    files = sum(_delete(name) for name in KERNELS)
    said = f"forgot {counted(texts, 'text')} and deleted {counted(files, 'file')} of kernels"
    say(as_json, {"texts": texts, "files": files}, said)
    return DONE


class Folder(NamedTuple):
    """The number of files in a folder, and their bytes."""

    files: int
    size: int


def _files(name: str) -> Iterator[Path]:
    from einderive.eops.cache_folder import cache_folder

    place = cache_folder()
    if place is not None:
        with suppress(OSError):
            yield from (path for path in (place / name).iterdir() if path.is_file())


def _folder(name: str) -> Folder:
    sizes = []
    for path in _files(name):
        with suppress(OSError):
            sizes.append(path.stat().st_size)
    return Folder(len(sizes), sum(sizes))


def _delete(name: str) -> int:
    """The number of files deleted; one that another process just deleted counts for that one."""
    count = 0
    for path in list(_files(name)):
        with suppress(OSError):
            path.unlink()
            count += 1
    return count


def _row(kept: Kept) -> dict[str, Any]:
    import json
    from time import localtime, strftime

    data = json.loads(kept.text)
    if kept.kind == "choice":
        trial = data["trials"][data["chosen"]]
        result = f"{trial['label']}: {', '.join(trial['words'])}"
    else:
        count = len(data["record"]["candidates"])
        result = f"{count} candidates"
    when = {name: strftime("%Y-%m-%d %H:%M", localtime(getattr(kept, name))) for name in TIMES}
    formula = "; ".join(line.strip() for line in kept.about.splitlines())
    return {"kind": kept.kind, "result": result, "formula": formula, **when}


TIMES = ("made", "used")


def _size(count: int) -> str:
    from einderive.frontend.limits.memory import amount

    return amount(count)
