"""What can be chosen: frozen records of plain numbers and words, checked when they are made.

Nothing here imports the accelerator, so a command line can offer, explain and check
every setting at once. `docs/words.md` maps the names to the papers' symbols.
A new kind of computation brings a file with its own record and a KIND.
"""

from headway.settings.adaptive import AdaptiveTrainingSettings
from headway.settings.checks import SettingsError
from headway.settings.construction import ConstructionSettings
from headway.settings.emergence import (
    LocationTaskSettings,
    RecallSettings,
    RecallTaskSettings,
    SingleLocationSettings,
)
from headway.settings.flow import FlowSettings
from headway.settings.markov import Settings
from headway.settings.model import ModelSettings
from headway.settings.portrait import PortraitSettings
from headway.settings.regression import RegressionSettings
from headway.settings.stage_times import StageTimesSettings
from headway.settings.task import Blocks, TaskSettings, Weights
from headway.settings.toy import ToySettings
from headway.settings.training import EvaluationSettings, TrainingSettings

__all__ = [
    "AdaptiveTrainingSettings",
    "Blocks",
    "ConstructionSettings",
    "EvaluationSettings",
    "FlowSettings",
    "LocationTaskSettings",
    "ModelSettings",
    "PortraitSettings",
    "RecallSettings",
    "RecallTaskSettings",
    "RegressionSettings",
    "Settings",
    "SettingsError",
    "SingleLocationSettings",
    "StageTimesSettings",
    "TaskSettings",
    "ToySettings",
    "TrainingSettings",
    "Weights",
]
