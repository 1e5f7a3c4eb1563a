"""Why a value did not win, what would have to change, and how far a decision is from changing."""
