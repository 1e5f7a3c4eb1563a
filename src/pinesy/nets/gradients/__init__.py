"""Gradients of what the engine infers."""
