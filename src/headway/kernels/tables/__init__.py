"""The transformer for a whole batch in plain JAX: the first block from tables over (position, token)."""
