"""The records of the workbench: files in one folder, each a saved derivation."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from time import strftime

import platformdirs

from einderive.frontend.api.record import load
from einderive.frontend.explorer.page import page
from einderive.frontend.explorer.view import view_of

NAME = re.compile(r"\d{8}-\d{6}-[0-9a-f]{4}")
"""The day, the time, and what tells records of the same second apart."""


def usual_folder() -> Path:
    return platformdirs.user_data_path("einderive") / "records"


@dataclass(frozen=True, slots=True)
class Records:
    folder: Path

    def new(self) -> str:
        """A name that no record has; the folder is made where it is missing."""
        self.folder.mkdir(parents=True, exist_ok=True)
        while self.path(name := f"{strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}").exists():
            pass
        return name

    def path(self, name: str) -> Path:
        """The file of a record; FileNotFoundError for what is no name of one."""
        if not NAME.fullmatch(name):
            raise FileNotFoundError(name)
        return self.folder / f"{name}.json"

    def page(self, name: str) -> str:
        """The explorer's page of a record; RecordError where the file is none."""
        path = self.path(name)
        if not path.exists():
            raise FileNotFoundError(name)
        return page(view_of(load(path), search=True, data=True))
