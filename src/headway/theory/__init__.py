"""Paper A's theory: the gradient flow of attention on a regression, its reductions, and what is true of them."""

from headway.theory.flow import full, logits, loss, loss_parts, plateaus
from headway.theory.offshoot import Offshoot
from headway.theory.problem import Problem, State, full_problem, geometric, random_features, reduced_problem
from headway.theory.reduction import merge_positions, merge_values
from headway.theory.simulate import simulate
from headway.theory.solve import crossings, log_times, solve
from headway.theory.start import near_uniform, stack
from headway.theory.two_scale import next_head

__all__ = [
    "Offshoot",
    "Problem",
    "State",
    "crossings",
    "full",
    "full_problem",
    "geometric",
    "log_times",
    "logits",
    "loss",
    "loss_parts",
    "merge_positions",
    "merge_values",
    "near_uniform",
    "next_head",
    "plateaus",
    "random_features",
    "reduced_problem",
    "simulate",
    "solve",
    "stack",
]
