"""Paper B's transformers: settings -> task, model, training that lasts as long as the plateau."""

from headway.laboratory.emergence.group import EmergenceGroup, Tick, shape_of

__all__ = ["EmergenceGroup", "Tick", "shape_of"]
