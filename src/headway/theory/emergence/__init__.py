"""Paper B's theory: how long attention waits before it finds the one token that matters.

toy        the task and what is trained: d, T, copies B, probability p of a repeated token
context    the two-variable flow: w and the gap between logits
sample     the three-variable one, for a token that is repeated across samples
escape     the linearised start, the escape time, and the plateau's closed form
late       what follows: w at its best for the attention that there is
logits     W and all T logits, nothing reduced
stepped    the flow that descent follows more closely, and its plateau in steps
"""

from headway.theory.emergence.toy import Toy

__all__ = ["Toy"]
