"""Feature matrices: Haar-distributed orthogonal matrices, if wanted orthogonal to each other."""

from __future__ import annotations

from headway.lazily import Array, Float, PRNGKeyArray, jax, jnp


def haar(key: PRNGKeyArray, size: int) -> Float[Array, "size size"]:
    """Q of G = QR with the signs of R's diagonal moved into Q, so that Q is Haar-distributed.

    Without the signs the law would depend on the convention of the QR routine.
    """
    q, r = jnp.linalg.qr(jax.random.normal(key, (size, size)))
    return q * jnp.where(jnp.diagonal(r) < 0, -1, 1)


def independent_features(key: PRNGKeyArray, count: int, size: int) -> Float[Array, "count size size"]:
    """Q_1, .., Q_count drawn independently."""
    return jax.vmap(lambda k: haar(k, size))(jax.random.split(key, count))


def mutually_orthogonal_features(key: PRNGKeyArray, count: int, size: int) -> Float[Array, "count size size"]:
    """Q_k = U S^k W with the cyclic shift S, so that tr(Q_i^T Q_j) = tr(S^(j-i)) = 0 for i != j.

    Every Q_k alone is still Haar-distributed, because U is.
    """
    left, right = independent_features(key, 2, size)
    return jnp.stack([left @ jnp.roll(right, k, axis=0) for k in range(count)])
