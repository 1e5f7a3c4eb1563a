"""HTML, SVG and plots of everything that the other packages return.

Those packages do not need it: their methods ``_repr_html_``, ``to_svg`` and ``plot`` import it when
they are called.
"""
