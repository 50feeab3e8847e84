"""Random walks whose law is drawn anew for every sequence: transition rows, walks in log-many steps, counts."""

from __future__ import annotations

from headway.lazily import Array, Bool, Float, Int, PRNGKeyArray, jax, jnp

CANDIDATES = 16
"""Doubly stochastic matrices that are tried at a time."""


def steps_back(length: int, lags: int) -> tuple[tuple[int, int], ...]:
    """(place, place - lag) for lags 1, 2, ..: pairs of positions."""
    return tuple((place, place - lag) for lag in range(1, lags + 1) for place in range(lag, length))


def dirichlet(key: PRNGKeyArray, alpha: float, rows: int, states: int) -> Float[Array, "{rows} {states}"]:
    """Rows ~ Dir(alpha, .., alpha).

    Gamma(m/2) is half the sum of m squared normal numbers: for these no number has to be rejected.
    """
    halves = round(2 * alpha)
    if halves == 2 * alpha and 1 <= halves <= 8:
        weights = jnp.sum(jax.random.normal(key, (halves, rows, states)) ** 2, axis=0)
    else:
        weights = jax.random.gamma(key, alpha, (rows, states))
    # A sum of float32 zeros would be no distribution.
    weights = jnp.maximum(weights, 1e-30)
    return weights / jnp.sum(weights, axis=1, keepdims=True)


def doubly_stochastic(key: PRNGKeyArray, states: int) -> Float[Array, "{states} {states}"]:
    """Uniform among the matrices whose rows and columns are distributions.

    The same law as filling a (k-1)^2 block from U(0, 1), completing it and rejecting what has a negative entry. Given
    that its rows fit, such a block has rows ~ Dir(1, .., 1) without their last entry: only columns have to be tried.
    """

    def candidate(key: PRNGKeyArray) -> Float[Array, "states states"]:
        rows = dirichlet(key, 1.0, states - 1, states)
        return jnp.concatenate([rows, 1 - jnp.sum(rows, axis=0, keepdims=True)])

    def again(carry: tuple) -> tuple:
        key, _ = carry
        key, fresh = jax.random.split(key)
        tried = jax.vmap(candidate)(jax.random.split(fresh, CANDIDATES))
        fine = jnp.all(tried >= 0, axis=(1, 2))
        return key, jnp.where(jnp.any(fine), tried[jnp.argmax(fine)], -jnp.ones((states, states)))

    _, found = jax.lax.while_loop(lambda carry: carry[1][0, 0] < 0, again, (key, -jnp.ones((states, states))))
    return found


def stationary(matrix: Float[Array, "states states"]) -> Float[Array, " states"]:
    """pi = pi P, sum pi = 1."""
    states = len(matrix)
    system = jnp.eye(states) - matrix.T + jnp.ones((states, states))
    return jnp.linalg.solve(system, jnp.ones(states))


def walk(
    key: PRNGKeyArray, rows: Float[Array, "context states"], first: Int[Array, " order"], length: int
) -> Int[Array, " {length}"]:
    """Tokens of a chain of any order: x_t ~ rows[last `order` tokens, the oldest counting most], first ones given.

    Every step is a map from contexts to contexts that its own random number fixes; the walk is their composition,
    which takes log(length) rounds where one step after the other would take `length`.
    """
    contexts, states = rows.shape
    order = first.shape[0]
    steps = length - order
    thresholds = jnp.cumsum(rows, axis=1)[:, :-1]
    drawn = jax.random.uniform(key, (steps, 1, 1))
    token = jnp.sum(drawn >= thresholds, axis=2)
    maps = (jnp.arange(contexts) * states + token) % contexts

    def after(before: Int[Array, "step context"], then: Int[Array, "step context"]) -> Int[Array, "step context"]:
        return jnp.take_along_axis(then, before, axis=1)

    places = states ** jnp.arange(order - 1, -1, -1)
    reached = jax.lax.associative_scan(after, maps)[:, jnp.sum(first * places)]
    return jnp.concatenate([first, reached % states])


def contexts_of(tokens: Int[Array, " time"], states: int, order: int) -> Int[Array, " time"]:
    """The last `order` tokens at every position as one number; meaningless before there are as many."""
    code = jnp.zeros_like(tokens)
    for lag in range(order - 1, -1, -1):
        code = code * states + jnp.roll(tokens, lag)
    return code


def matches(tokens: Int[Array, " time"], states: int, order: int) -> Bool[Array, "time time"]:
    """[t, i]: whether token i < t, or t itself, follows the same `order` tokens as the next one, t + 1, does."""
    code, place = contexts_of(tokens, states, order), jnp.arange(len(tokens))
    before = jnp.roll(code, 1)
    known = (place >= order) & (place <= place[:, None]) & (place[:, None] >= order - 1)
    return known & (before == code[:, None])


def followers(tokens: Int[Array, " time"], states: int, order: int) -> Float[Array, "time {states}"]:
    """How often each symbol followed the last `order` tokens so far, at every position; of none: how often it came."""
    return matches(tokens, states, order).astype(jnp.float32) @ jax.nn.one_hot(tokens, states)


def gram_name(count: int) -> str:
    """1 -> unigram, 2 -> bigram, 3 -> trigram, 4 -> 4-gram."""
    return {0: "uniform", 1: "unigram", 2: "bigram", 3: "trigram"}.get(count, f"{count}-gram")
