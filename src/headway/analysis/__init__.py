"""What a trajectory's arrays say: pure functions from NumPy arrays of one seed to numbers."""

from headway.analysis.arrival import arrival_order
from headway.analysis.attention import by_lag, distance_from_uniform, mass_per_block, uniform_by_lag
from headway.analysis.clarity import clarity
from headway.analysis.intervals import OverSeeds, interval_over_seeds, median_in_words, over_seeds
from headway.analysis.ladder import Visits, bottoms, minima, nearest_rung, visits_in_order
from headway.analysis.ngrams import Ngrams, ngrams
from headway.analysis.plateaus import stages_from_loss
from headway.analysis.specialisation import (
    Hump,
    Owner,
    competition,
    cooperation,
    held_since,
    owners,
    rises_then_falls,
)
from headway.analysis.stage_summary import StageSummary, stage_summary
from headway.analysis.stages import Stages, stages_from_ladder

__all__ = [
    "Hump",
    "Ngrams",
    "OverSeeds",
    "Owner",
    "StageSummary",
    "Stages",
    "Visits",
    "arrival_order",
    "bottoms",
    "by_lag",
    "clarity",
    "competition",
    "cooperation",
    "distance_from_uniform",
    "held_since",
    "interval_over_seeds",
    "mass_per_block",
    "median_in_words",
    "minima",
    "nearest_rung",
    "ngrams",
    "over_seeds",
    "owners",
    "rises_then_falls",
    "stage_summary",
    "stages_from_ladder",
    "stages_from_loss",
    "uniform_by_lag",
    "visits_in_order",
]
