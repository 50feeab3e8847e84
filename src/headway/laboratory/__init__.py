"""Kinds of runs that are computed in one go: flows, closed forms, the hand-made solution."""
