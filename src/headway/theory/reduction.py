"""V_k = sum_j c_kj B_j: an exact flow on few numbers, for any size of the features."""

import numpy as np
from jaxtyping import Float

from headway.theory.problem import Problem, State


def span(problem: Problem, state: State) -> Float[np.ndarray, "direction size"]:
    """Orthonormal B: first V_1* .. V_h*, then what the start's V_k add to their span, at most one direction a head.

    dV_k/dt is a combination of the V_j* and the V_i, so no V_k ever leaves the span of V_1* .. V_h*, V_1(0) .. V_H(0).
    From V = 0 that is h directions.
    """
    features = np.asarray(problem.features)
    rest = np.asarray(state.values) - (np.asarray(state.values) @ features.T) @ features
    _, sizes, directions = np.linalg.svd(rest, full_matrices=False)
    added = directions[sizes > 1e-13 * max(1.0, float(np.abs(state.values).max()))]
    return np.concatenate([features, added - (added @ features.T) @ features])


def merge_values(problem: Problem, state: State) -> tuple[Problem, State, Float[np.ndarray, "direction size"]]:
    """The problem and the state in coordinates c_kj = <V_k, B_j>, and B: V_k = sum_j c_kj B_j, at all times."""
    basis = span(problem, state)
    smaller = Problem(
        strengths=problem.strengths,
        features=np.eye(problem.count, len(basis)),
        copies=problem.copies,
        heads=problem.heads,
        projections=problem.projections,
    )
    return smaller, State(np.asarray(state.values) @ basis.T, np.asarray(state.attention)), basis


def merge_positions(problem: Problem, state: State) -> tuple[Problem, State, list[int]]:
    """Positions without a feature that every head sees alike at the start become one; also which entry each went to.

    They stay alike, as exchanging them changes neither the flow nor the start. From a start that is uniform beyond the
    features h + 1 entries remain, whatever T is. Where the start has noise nothing is alike and nothing is merged.
    """
    attention, copies = np.asarray(state.attention), np.asarray(problem.copies)
    entries: dict[bytes, int] = {}
    of_position = list(range(problem.count))
    for column in attention.T[problem.count :]:
        of_position.append(entries.setdefault(column.tobytes(), problem.count + len(entries)))
    first = [of_position.index(entry) for entry in range(problem.count + len(entries))]
    merged = Problem(
        strengths=problem.strengths,
        features=problem.features,
        copies=np.bincount(of_position, weights=copies),
        heads=problem.heads,
        projections=problem.projections,
    )
    return merged, State(np.asarray(state.values), attention[:, first]), of_position
