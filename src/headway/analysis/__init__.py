"""What measured curves say: stages, attention by lag and block, specialisation, laws, intervals over seeds.

Pure functions of arrays, for anybody's curves: NumPy's, JAX's, PyTorch's (on a GPU or with a gradient, too), anything
with dlpack. They need nothing but NumPy; what they give is NumPy or plain numbers. docs/analysis.md shows them at work.

    found = stages_from_loss(steps, loss)      # the plateaus of a loss curve
    found.boundaries                           # when one gave way to the next

Functions take one seed at a time unless they say (seed, ...). Missing values are NaN.
"""

from headway.analysis.arrays import as_numpy
from headway.analysis.arrival import arrival_order
from headway.analysis.attention import by_lag, distance_from_uniform, mass_per_block, uniform_by_lag
from headway.analysis.calibration import Calibration, calibrate
from headway.analysis.clarity import clarity
from headway.analysis.crossings import at_end, first_at_least, first_at_most, for_good
from headway.analysis.intervals import OverSeeds, interval_over_seeds, median_in_words, over_seeds
from headway.analysis.ladder import Visits, minima, nearest_rung, visits_in_order
from headway.analysis.laws import lines, slopes
from headway.analysis.ngrams import Ngrams, ngrams
from headway.analysis.plateaus import stages_after_settling, stages_from_loss
from headway.analysis.power_laws import PowerLaws, fit_power_laws
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
from headway.analysis.stopping import Stopped, stop_by_patience, stop_by_stages

__all__ = [
    "Calibration",
    "Hump",
    "Ngrams",
    "OverSeeds",
    "Owner",
    "PowerLaws",
    "StageSummary",
    "Stages",
    "Stopped",
    "Visits",
    "arrival_order",
    "as_numpy",
    "at_end",
    "by_lag",
    "calibrate",
    "clarity",
    "competition",
    "cooperation",
    "distance_from_uniform",
    "first_at_least",
    "first_at_most",
    "fit_power_laws",
    "for_good",
    "held_since",
    "interval_over_seeds",
    "lines",
    "mass_per_block",
    "median_in_words",
    "minima",
    "nearest_rung",
    "ngrams",
    "over_seeds",
    "owners",
    "rises_then_falls",
    "slopes",
    "stage_summary",
    "stages_after_settling",
    "stages_from_ladder",
    "stages_from_loss",
    "stop_by_patience",
    "stop_by_stages",
    "uniform_by_lag",
    "visits_in_order",
]
