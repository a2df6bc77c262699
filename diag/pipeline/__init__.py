"""The steps in order, over a run folder: `check` needs no model; `diag.pipeline.qa` runs one."""

from diag.pipeline.check import CheckOptions, CheckResult, Progress, check, figure_names, figures

__all__ = ["CheckOptions", "CheckResult", "Progress", "check", "figure_names", "figures"]
