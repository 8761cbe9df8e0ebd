# SPDX-License-Identifier: Apache-2.0
"""Sphinx reads this page; scripts/docs.sh builds the site. Nothing is fetched: no fonts, no scripts, no inventories."""

import importlib.util
import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

project = "Taproot"
author = "The Taproot authors"
copyright = "The Taproot authors, Apache-2.0"
found = re.search(r'define TAPROOT_VERSION "([0-9.]+)"', (ROOT / "include/taproot/version.h").read_text())
assert found is not None
version = release = found.group(1)

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_design",
    "breathe",
    "site_pages",
]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["README.md"]  # The forge's table of contents; the site has its own.

# A page is plain Markdown on a forge, so headings have the anchors that a forge gives them.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

# PyTorch is large. Where it is not installed, taproot.torch is documented without it.
if importlib.util.find_spec("torch") is None:
    autodoc_mock_imports = ["torch", "taproot._torch_operators", "taproot._torch_cpu"]
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False  # Those of torch.distributions are not about trees.
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {
    name: name.rpartition(".")[2]
    for name in ("npt.ArrayLike", "Algorithm", "Layout", "Reduction", "Root", "Seed", "WithoutReplacementAlgorithm")
}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
cpp_maximum_signature_line_length = 90

# The release build's command line describes itself; see site_pages.py.
taproot_program = os.environ.get("TAPROOT_PROGRAM", str(ROOT / "build/release/cli/taproot"))

# Where a file of the repository can be read that is not a page of the site; empty where there is no such place.
taproot_forge = os.environ.get("TAPROOT_FORGE", "")

breathe_projects = {"taproot": os.environ.get("TAPROOT_DOXYGEN", str(ROOT / "build/docs-doxygen/xml"))}
breathe_default_project = "taproot"
breathe_default_members = ("members",)
breathe_show_include = False
cpp_id_attributes = ["TAPROOT_API", "TAPROOT_HOST_DEVICE"]

# Every reference in a signature must lead somewhere, except into other people's libraries.
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"taproot\._.*"),
    ("py:.*", r"(Algorithm|Array|ArrayLike|Layout|Reduction|Root|Seed|Tensor|WithoutReplacementAlgorithm)"),
    ("py:.*", r"(np|npt|numpy|torch|jax|pa|pyarrow|os|collections|typing|types|abc|pathlib)\..*"),
    ("cpp:.*", r"(std|std::.*|int|float|double|bool|char|void|size_t|u?int\d+_t)"),
]

html_theme = "furo"
html_title = f"Taproot {release}"
html_copy_source = False
html_domain_indices = False
html_show_sourcelink = False
html_show_sphinx = False
html_static_path = ["style"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
