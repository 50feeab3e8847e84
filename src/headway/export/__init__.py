"""Records for other programs: numbers as tables, models as plain PyTorch, for TransformerLens, or as bare weights."""

from headway.export.errors import ExportError
from headway.export.table import export

__all__ = ["ExportError", "export"]
