"""Rules in forms that other programs read."""
