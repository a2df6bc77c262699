# The part of SciPy that chronodiag uses.
from collections.abc import Sequence
from typing import Any

class _Significance:
    statistic: float
    pvalue: float

def spearmanr(a: Sequence[float], b: Sequence[float]) -> _Significance: ...
def rankdata(a: Any, *, axis: int | None = ...) -> Any: ...
