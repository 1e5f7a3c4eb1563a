"""The audit: which training samples contradict the rules, where and by how much."""
