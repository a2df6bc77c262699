from typing import Any

class LogisticRegression:
    coef_: Any
    intercept_: Any
    def __init__(self, **kwargs: Any) -> None: ...
    def fit(self, X: Any, y: Any) -> LogisticRegression: ...
