from typing import Any

class DynamicLayer:
    keys: Any
    values: Any
    is_initialized: bool
