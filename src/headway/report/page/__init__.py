"""One self-contained HTML file: open it from disk, move one slider, and watch a model learn.

write_page("report.html", Report("Headway", "What we looked at.", (RunView("quick", settings, trajectory),)))
"""

from headway.report.page.views import FigureGroup, Report, RunView, SeedStages
from headway.report.page.write import write_page

__all__ = ["FigureGroup", "Report", "RunView", "SeedStages", "write_page"]
