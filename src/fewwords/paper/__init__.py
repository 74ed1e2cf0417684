"""Section 4 of the paper as one resumable plan: its cells, its tables and figures, the controls it left out, the report."""

from fewwords.paper.plan import Cell, Control, make_plan
from fewwords.paper.record import Record
from fewwords.paper.run import run_plan
from fewwords.paper.status import PlanStatus, plan_status

__all__ = ["Cell", "Control", "PlanStatus", "Record", "make_plan", "plan_status", "run_plan"]
