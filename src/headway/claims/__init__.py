"""The papers' claims as predicates over every seed's numbers, each beside its definition.

A file has one or more `Claim`s and the functions that hold them against runs. A definition is fixed before its outcome
is looked at, and it is part of the Finding: a reader can disagree with it. docs/log.md tells of the few that were
changed.
"""
