"""One rule base, several semantics: what worlds that obey the rules weigh together."""
