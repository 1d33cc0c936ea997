"""`einderive explore`: a saved derivation as a page, and the workbench."""

from __future__ import annotations

import webbrowser
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from einderive.frontend.cli.codes import DONE
from einderive.frontend.cli.parameters import FILE, OPTIONS, examples, options
from einderive.frontend.cli.records import measured

if TYPE_CHECKING:
    from einderive.frontend.api.compiled import Derivation
    from einderive.frontend.trial.effort import Given

LIBRARIES = ("starlette", "uvicorn")
"""What serves the workbench."""


@click.command(
    short_help="Open the workbench, or show a saved derivation as a page.",
    epilog=examples("explore"),
)
@click.argument("record", metavar="[FILE]", type=FILE, required=False)
@click.argument("other", metavar="[FILE]", type=FILE, required=False)
@options("html run effort seconds json port records browser", OPTIONS["explore"])
def explore(
    record: str | None,
    other: str | None,
    html: str | None,
    timed: bool,
    effort: Given | None,
    seconds: float | None,
    as_json: bool,
    port: int | None,
    records: str | None,
    browser: bool,
) -> int:
    """Without a file, open the workbench: a page that only this machine can open. There you type a
    formula, see how it is read, derive it, and watch and stop the search. Ctrl-C ends it.

    With the file of a saved derivation, show the derivation as a page: steps, programs, candidates,
    rules. The page is one file that needs no network. Without --html, it opens in a browser.

    With two files, show both derivations side by side.
    """
    if record is None:
        if html is not None or timed or as_json:
            raise click.UsageError("--html, --run and --json need the file of a derivation")
        return _workbench(port or 0, records, browser)
    if port is not None or records is not None or not browser:
        raise click.UsageError(
            "--port, --records and --no-browser are for the workbench, without a file"
        )
    from einderive.frontend.api.record import load

    derivation = load(record)
    if other is not None:
        return _both(derivation, load(other), (record, other), html, timed, as_json)
    compiled = measured(derivation, effort, seconds=seconds) if timed else None
    shown = derivation if compiled is None else compiled
    if as_json:
        from einderive.frontend.explorer.view import view_of
        from einderive.frontend.report.data import json_text

        print(json_text(view_of(derivation, compiled or derivation.recorded_race)))
    elif html is None:
        print(f"opened {shown.explore()}")
    else:
        shown.to_html(html)
        print(f"wrote {html}")
    return DONE


def _both(
    left: Derivation,
    right: Derivation,
    paths: tuple[str, str],
    html: str | None,
    timed: bool,
    as_json: bool,
) -> int:
    """Two derivations under the names of their files."""
    from einderive.frontend.explorer.comparison.compared import compared
    from einderive.frontend.explorer.comparison.page import rendered
    from einderive.frontend.files import opened, write_whole
    from einderive.frontend.report.data import json_text

    if timed:
        raise click.UsageError("--run is for one derivation")
    names = [Path(path).stem for path in paths]
    first, second = names if names[0] != names[1] else paths
    found = compared(left, right, (first, second))
    if as_json:
        print(json_text(found))
    elif html is None:
        print(f"opened {opened(lambda path: write_whole(path, rendered(found)))}")
    else:
        write_whole(html, rendered(found))
        print(f"wrote {html}")
    return DONE


def _workbench(port: int, folder: str | None, browser: bool) -> int:
    from einderive.frontend.arguments import UsageError

    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"the workbench needs {' and '.join(missing)}",
            next_step="pip install 'einderive[explore]'",
        )
    from einderive.frontend.workbench.records import Records, usual_folder
    from einderive.frontend.workbench.serve import serve

    def started(address: str) -> None:
        print(f"the workbench is at {address}\nCtrl-C ends it", flush=True)
        if browser:
            webbrowser.open(address)

    serve(port, Records(Path(folder) if folder else usual_folder()), started)
    return DONE
