"""Every numbered statement of paper A's theory, as printed and as corrected: the flow decides."""

import jax
import numpy as np

from headway.theory.statements import algebra, competition, cooperation
from headway.theory.statements.check import Check, table

__all__ = ["Check", "all_checks", "table"]


def all_checks(seed: int = 0) -> dict[str, Check]:
    """All checks over random instances, by name; docs/errata.md is written from them."""
    rng = np.random.default_rng(seed)
    with jax.enable_x64(True):
        checks = [
            algebra.tensor_product(rng),
            algebra.proposition_1(rng),
            *competition.theorem_1(rng),
            competition.theorem_2(rng),
            algebra.remark_1(rng),
            algebra.section_e(rng),
            algebra.lemma_2(rng),
            algebra.lemma_3(rng),
            cooperation.lemma_1_derivative(rng),
            *cooperation.lemma_1_and_theorem_3(rng),
            cooperation.theorem_3_proof(rng),
            algebra.expansion(rng),
            algebra.along_the_first(rng),
            cooperation.next_feature(rng, 1),
            algebra.remark_2(rng),
            cooperation.next_feature(rng, 2),
            cooperation.leftover(rng, 1),
            cooperation.leftover(rng, 2),
        ]
    return {check.name: check for check in checks}
