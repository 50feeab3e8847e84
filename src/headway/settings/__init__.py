"""What can be chosen: frozen records of plain numbers and words, checked when they are made.

Nothing here imports the accelerator, so a command line can offer, explain and check
every setting at once. `docs/words.md` maps the names to the papers' symbols.
A new kind of computation brings a file with its own record and a KIND.
"""

from headway.settings.checks import SettingsError
from headway.settings.construction import ConstructionSettings
from headway.settings.flow import FlowSettings
from headway.settings.markov import Settings
from headway.settings.model import ModelSettings
from headway.settings.task import Blocks, TaskSettings, Weights
from headway.settings.training import EvaluationSettings, TrainingSettings

__all__ = [
    "Blocks",
    "ConstructionSettings",
    "EvaluationSettings",
    "FlowSettings",
    "ModelSettings",
    "Settings",
    "SettingsError",
    "TaskSettings",
    "TrainingSettings",
    "Weights",
]
