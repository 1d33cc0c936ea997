"""A derivation, with its race if there is one, as a whole page and as an element of a notebook."""

from __future__ import annotations

from einderive.frontend.derived import Derived
from einderive.frontend.explorer.page import fragment, page
from einderive.frontend.explorer.view import view_of
from einderive.frontend.measurements.recorded import Race, StageSeconds


def whole_page(
    derivation: Derived, race: Race | None = None, stages: StageSeconds | None = None
) -> str:
    """The page with everything that is known."""
    return page(view_of(derivation, race, search=True, data=True, kernels=True, stages=stages))


def element(derivation: Derived, race: Race | None = None) -> str:
    """Steps and programs; nothing is checked for it."""
    return fragment(view_of(derivation, race, checked=0))
