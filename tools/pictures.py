"""The pictures of `docs/explorer.md`, taken anew: `python -m tools.pictures`.

It needs Chromium, and the packages playwright and Pillow.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
from importlib import import_module
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import einderive as ed
from einderive.frontend.workbench.desk import Desk
from einderive.frontend.workbench.records import Records
from einderive.frontend.workbench.serve import HOME, server_of

FOLDER = Path(__file__).parents[1] / "docs" / "_static"
SIZE = {"width": 1000, "height": 760}
COLOURS = 200
TOKEN = "pictures"
TEXT = "Y[h,w] = A[h+r-7,w+s-7]/225 where h in 0:512, w in 0:512, r in 0:15, s in 0:15"


def main() -> None:
    browsers = import_module("playwright.sync_api").sync_playwright()
    with TemporaryDirectory() as folder, browsers as found:
        chromium = shutil.which("chromium")
        browser = found.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        _explorer(page, Path(folder) / "d.html")
        _workbench(page, Path(folder))
        browser.close()


def _explorer(page: Any, file: Path) -> None:
    ed.derive(TEXT, A=(512, 512), budget=ed.Budget(states=400)).to_html(file)
    page.goto(file.as_uri())
    page.wait_for_selector("#searched:not([hidden])")
    for name in ("derivation", "search", "data"):
        page.locator(f"#h-{name}").evaluate("each => each.scrollIntoView()")
        page.wait_for_timeout(500)
        _keep(page.screenshot(), f"explorer-{name}.png")


def _workbench(page: Any, folder: Path) -> None:
    with socket.socket() as place:
        place.bind((HOME, 0))
        place.listen()
        port = place.getsockname()[1]
        server = server_of(TOKEN, port, Desk(), Records(folder / "records"))
        thread = Thread(target=lambda: asyncio.run(server.serve(sockets=[place])), daemon=True)
        thread.start()
        page.set_default_timeout(120_000)
        page.goto(f"http://{HOME}:{port}/{TOKEN}/")
        page.locator("#reading math").wait_for()
        page.locator("[name=states]").fill("300")
        page.locator("[name=seconds]").fill("60")
        page.get_by_role("button", name="Derive").click()
        page.locator("#derive-job").get_by_text("Done.").wait_for()
        page.locator("#h-derive").evaluate("each => each.scrollIntoView()")
        page.wait_for_timeout(500)
        _keep(page.screenshot(), "workbench.png")
        server.should_exit = True
        thread.join(30)


def _keep(picture: bytes, name: str) -> None:
    """The picture in few colours, which makes it small."""
    image: Any = import_module("PIL.Image")
    shown = image.open(BytesIO(picture)).convert("RGB").quantize(COLOURS, kmeans=2)
    shown.save(FOLDER / name, optimize=True)


if __name__ == "__main__":
    main()
