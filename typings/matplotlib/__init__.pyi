from contextlib import AbstractContextManager
from typing import Any

def rc_context(rc: dict[str, Any]) -> AbstractContextManager[None]: ...
