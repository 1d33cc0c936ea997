"""Sphinx configuration."""

import os
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS), str(DOCS.parent)]

# The pages show what is derived with the profile that comes with the package: with figures measured
# on the machine of the build, a search may find other programs, and the build would depend on it.
os.environ["EINDERIVE_CACHE"] = "off"
os.environ["EINDERIVE_FIRST_PROFILE"] = "off"

project = "einderive"
author = "the einderive authors"
project_copyright = author
version = release = installed_version("einderive")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "plain_docstrings",
    "mathml_renderer",
    "derivation_directive",
    "calculus_directives",
    "plot_directive",
    "search_words",
]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"

html_theme = "furo"
html_math_renderer = "mathml"
html_title = "einderive"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
