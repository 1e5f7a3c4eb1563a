"""The documentation as a site: `make docs` builds it, offline and without warnings.

The pages are those of this folder, which the tests run; the reference is made of the docstrings.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = str(HERE.parent / "src")
sys.path[:0] = [str(HERE), SOURCE]
# for the processes that run examples and pages
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [SOURCE, os.environ.get("PYTHONPATH")]))

from pinesy import __version__  # noqa: E402

project = "pinesy"
author = "The pinesy developers"
copyright = "The pinesy developers; Apache-2.0"  # noqa: A001
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "extensions.formulas",
    "extensions.public_names",
    "extensions.gallery",
    "extensions.docstrings",
    "extensions.links",
]
exclude_patterns = ["_build", "results/records", "results/tabular"]

# --- pages ---------------------------------------------------------------------------------------
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

# --- reference -----------------------------------------------------------------------------------
default_role = "obj"
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
# of our own bases only, not of those that these are named
autodoc_default_options = {
    "inherited-members": "BaseEstimator, ClassifierMixin, BaseException, Mapping, Module, tuple"
}
autodoc_member_order = "groupwise"
autodoc_preserve_defaults = True
autosummary_generate = False
napoleon_custom_sections = ["Attributes"]  # a list: extensions.docstring_fields makes it
napoleon_google_docstring = False
napoleon_use_rtype = False

# --- look ----------------------------------------------------------------------------------------
html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = f"pinesy {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"  # of extensions.formulas: no script, nothing to load
html_copy_source = False
html_show_sphinx = False
