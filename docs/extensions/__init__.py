"""What the site needs beside Sphinx: formulas, the gallery, links that lead out of this folder."""
