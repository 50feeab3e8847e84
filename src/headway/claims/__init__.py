"""What a claim is, and predicates over every seed's numbers that the experiments' claims share.

The words of a claim stand in its experiment's file, with the thresholds that it alone uses. A definition is fixed
before its outcome is looked at, and it is part of the Finding: a reader can disagree with it. docs/log.md lists the
few that were changed.
"""
