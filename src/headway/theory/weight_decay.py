"""dV_k/dt = (G - P) s_k - lambda V_k, dq_k/dt = Pi(s_k)^(n-1) V_k^T (G - P) - lambda q_k: the flow with weight decay.

What descends on 1/2 ||G - P||^2 with weight decay lambda on values and logits follows it (n = 2). Adding a constant to
all logits of a head changes no attention, and decays on its own.
"""

from dataclasses import dataclass

from headway.tasks.flow_rest import settled_loss as settled_loss
from headway.theory.flow import logits
from headway.theory.problem import Problem, State
from headway.theory.solve import Field


@dataclass(frozen=True)
class Decayed:
    """The flow in logits with this decay; two of the same decay are one to what is compiled for them."""

    decay: float

    def __call__(self, problem: Problem, state: State) -> State:
        moved = logits(problem, state)
        return State(moved.values - self.decay * state.values, moved.attention - self.decay * state.attention)


def logits_with(decay: float) -> Field:
    """`flow.logits`, unless something decays."""
    return Decayed(decay) if decay else logits
