"""The third boundary of the flow, predicted: it lies below, where claims can ask for it without JAX."""

from headway.tasks.flow_third_stage import ThirdStage as ThirdStage
from headway.tasks.flow_third_stage import third_stage as third_stage
