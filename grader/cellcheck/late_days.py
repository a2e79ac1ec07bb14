"""A plugin for nbgrader: late work loses a part of its points for each day that has begun.

nbgrader's own plugin takes nothing, or everything. In `nbgrader_config.py`:

    c.AssignLatePenalties.plugin_class = "cellcheck.late_days.PerDay"
    c.PerDay.percent = 10
"""

import math

from nbgrader.plugins import BasePlugin
from traitlets import Float

DAY = 86_400.0


class PerDay(BasePlugin):  # type: ignore[misc]
    """See the module's docstring."""

    percent = Float(10.0, help="How much of the points earned each day costs, in percent.").tag(config=True)
    most = Float(100.0, help="How much is taken off at most, in percent.").tag(config=True)
    grace_minutes = Float(0.0, help="How late something may be at no cost.").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """The points that nbgrader is to take off; None where there are none."""
        if total_seconds_late <= 60 * self.grace_minutes:
            return None
        taken: float = score * min(self.most, self.percent * math.ceil(total_seconds_late / DAY)) / 100
        return taken
