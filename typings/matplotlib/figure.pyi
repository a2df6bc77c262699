from typing import Any

class Figure:
    def __init__(self, **kwargs: Any) -> None: ...
