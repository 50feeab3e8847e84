"""One file a task: settings with the paper's symbols, sampling, loss, ladder, measures, when it counts as learnt."""

from headway.tasks.run import Settings
from headway.tasks.task import Answer, Example

__all__ = ["Answer", "Example", "Settings"]
