"""What can be chosen of models and trainings: frozen records of plain numbers and words, checked when they are made.

Nothing here imports the accelerator, so a command line can offer, explain and check every setting at once. What can
be chosen of a task lies in the task's own file. `docs/words.md` maps the names to the papers' symbols.
"""

from headway.settings.checks import SettingsError
from headway.settings.flows import FlowSettings, PortraitSettings, StageTimesSettings
from headway.settings.model import ModelSettings
from headway.settings.toy_flow import ToyFlowSettings
from headway.settings.training import EvaluationSettings, TrainingSettings

__all__ = [
    "EvaluationSettings",
    "FlowSettings",
    "ModelSettings",
    "PortraitSettings",
    "SettingsError",
    "StageTimesSettings",
    "ToyFlowSettings",
    "TrainingSettings",
]
