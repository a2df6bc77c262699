# The part of Captum that chronodiag uses; its own types are partly unknown.
from collections.abc import Callable

from torch import Tensor

class FeatureAblation:
    def __init__(self, forward_func: Callable[[Tensor], Tensor]) -> None: ...
    def attribute(self, inputs: Tensor, *, baselines: Tensor, perturbations_per_eval: int = ...) -> Tensor: ...

class ShapleyValueSampling:
    def __init__(self, forward_func: Callable[[Tensor], Tensor]) -> None: ...
    def attribute(
        self, inputs: Tensor, *, baselines: Tensor, n_samples: int = ..., perturbations_per_eval: int = ...
    ) -> Tensor: ...

class Saliency:
    def __init__(self, forward_func: Callable[[Tensor], Tensor]) -> None: ...
    def attribute(self, inputs: Tensor, *, abs: bool = ...) -> Tensor: ...

class IntegratedGradients:
    def __init__(self, forward_func: Callable[[Tensor], Tensor], multiply_by_inputs: bool = ...) -> None: ...
    def attribute(
        self,
        inputs: Tensor,
        *,
        baselines: Tensor,
        n_steps: int = ...,
        method: str = ...,
        internal_batch_size: int = ...,
    ) -> Tensor: ...
