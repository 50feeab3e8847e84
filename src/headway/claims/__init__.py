"""The papers' claims as predicates over every seed's numbers, each beside its definition.

A definition was fixed before its outcome was looked at and is part of the Finding: a reader can disagree with it.
"""

from headway.claims.kind import same_in_kind
from headway.claims.ladder import meets_ngrams_in_order, meets_rungs_in_order
from headway.claims.looking import compete_then_cooperate, newest_is_spared, published_pictures

__all__ = [
    "compete_then_cooperate",
    "meets_ngrams_in_order",
    "meets_rungs_in_order",
    "newest_is_spared",
    "published_pictures",
    "same_in_kind",
]
