"""Figures in the look of the papers, drawn from a Trajectory alone.

figure = new_figure(width=5.5, height=1.9)
left, right = figure.subplots(1, 2)
draw_kl(left, trajectory, starts=(12, 65, 450))
draw_excess(right, trajectory)
png, pdf, svg = save(figure, "figures/ladder")
"""

from headway.report.figures.alignment import figure_alignment, figure_flow_alignment, shows_alignment
from headway.report.figures.attention import draw_attention, draw_heads
from headway.report.figures.choice import figure_choice
from headway.report.figures.composites import figure_overview, figure_stages
from headway.report.figures.curves import draw_excess, draw_kl, reference_names, rung_names
from headway.report.figures.family import figure_family
from headway.report.figures.files import save
from headway.report.figures.flow import figure_flow
from headway.report.figures.grid import figure_grid
from headway.report.figures.linear_attention import (
    figure_linear_attention,
    figure_linear_heads,
    figure_linear_softmax,
    figure_ranks,
)
from headway.report.figures.lines import Run
from headway.report.figures.loss_plateau import figure_interventions, figure_loss_plateau, figure_window_attention
from headway.report.figures.plateaus import figure_law, figure_plateaus
from headway.report.figures.progress import figure_progress, with_pictures
from headway.report.figures.recall import (
    figure_embeddings,
    figure_recall,
    figure_recall_sizes,
    figure_repetition,
    figure_two_attentions,
)
from headway.report.figures.saddle import figure_saddle
from headway.report.figures.sharpness import figure_sharpness
from headway.report.figures.sizes import figure_sizes
from headway.report.figures.specialisation import draw_competition, draw_mass
from headway.report.figures.style import new_figure
from headway.report.figures.toy import figure_repeated, figure_transition
from headway.report.figures.toy_over import figure_late, figure_over
from headway.report.figures.transformer_law import figure_emergence, figure_plateau_sizes
from headway.report.figures.transitions import figure_ladders, figure_waits, has_ladder
from headway.report.figures.variation import figure_variation

__all__ = [
    "Run",
    "draw_attention",
    "draw_competition",
    "draw_excess",
    "draw_heads",
    "draw_kl",
    "draw_mass",
    "figure_alignment",
    "figure_choice",
    "figure_embeddings",
    "figure_emergence",
    "figure_family",
    "figure_flow",
    "figure_flow_alignment",
    "figure_grid",
    "figure_interventions",
    "figure_ladders",
    "figure_late",
    "figure_law",
    "figure_linear_attention",
    "figure_linear_heads",
    "figure_linear_softmax",
    "figure_loss_plateau",
    "figure_over",
    "figure_overview",
    "figure_plateau_sizes",
    "figure_plateaus",
    "figure_progress",
    "figure_ranks",
    "figure_recall",
    "figure_recall_sizes",
    "figure_repeated",
    "figure_repetition",
    "figure_saddle",
    "figure_sharpness",
    "figure_sizes",
    "figure_stages",
    "figure_transition",
    "figure_two_attentions",
    "figure_variation",
    "figure_waits",
    "figure_window_attention",
    "has_ladder",
    "new_figure",
    "reference_names",
    "rung_names",
    "save",
    "shows_alignment",
    "with_pictures",
]
