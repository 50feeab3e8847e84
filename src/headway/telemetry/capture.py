"""How attention is seen: an attention function of ours, a mode around PyTorch's functions, or what the user names.

    with catching(model, attention, take) as seen:
        model(tokens)          # take(Call) once for every layer, in their order

Each way lasts for one forward pass and leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import fnmatch
import importlib
import inspect
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import torch
import torch.nn.functional as F  # noqa: N812 - as everybody calls it
from torch.overrides import TorchFunctionMode

from headway.telemetry import huggingface
from headway.telemetry.errors import TelemetryError

SOFTMAX = (torch.softmax, F.softmax, torch.Tensor.softmax)
PRODUCTS = (torch.matmul, torch.Tensor.matmul, torch.Tensor.__matmul__, torch.mm, torch.Tensor.mm)


@dataclass
class Call:
    """One call of attention: queries and keys, (batch, head, time, width), or the attention itself."""

    query: Any = None
    key: Any = None
    value: Any = None
    mask: Any = None
    """True where a query may look, or numbers to be added to the scores; None: everywhere, or the past if `causal`."""
    causal: bool = False
    scale: float | None = None
    softcap: float | None = None
    weights: Any = None
    """(batch, head, query, key), where the model computes it itself."""
    output: Any = None
    """The matrix that follows, (stream, head * width), once it has been seen."""

    @property
    def heads(self) -> int:
        return self._shape[1]

    @property
    def batch(self) -> int:
        return self._shape[0]

    @property
    def length(self) -> int:
        return self._shape[2]

    @property
    def _shape(self) -> Any:
        return (self.query if self.weights is None else self.weights).shape

    @property
    def square(self) -> bool:
        """Whether it is self-attention of a whole row."""
        if self.weights is not None:
            return self.weights.ndim == 4 and self.weights.shape[-1] == self.weights.shape[-2]
        tensors = (self.query, self.key)
        return all(each is not None and each.ndim == 4 for each in tensors) and (
            self.query.shape[-2] == self.key.shape[-2]
        )


@dataclass
class Seen:
    """What was caught in one forward pass."""

    take: Callable[[Call], None]
    way: str = "scaled_dot_product_attention"
    layers: int = 0
    pending: Call | None = None
    """A call whose output matrix has not come yet."""
    last: torch.Tensor | None = field(default=None, repr=False)
    """The matrix of the last product, (outputs, inputs): the unembedding, when the pass is over."""

    def caught(self, call: Call) -> None:
        if call.square:
            self.layers += 1
            self.flush()
            self.pending = call

    def product(self, inputs: Any, matrix: Any) -> None:
        """A product of the stream with a matrix, (outputs, inputs): the first after attention is its output matrix."""
        if not (isinstance(matrix, torch.Tensor) and matrix.ndim == 2 and isinstance(inputs, torch.Tensor)):
            return
        self.last = matrix
        call = self.pending
        if call is not None and call.value is not None and matrix.shape[1] == call.heads * call.value.shape[-1]:
            call.output = matrix
            self.flush()

    def flush(self) -> None:
        call, self.pending = self.pending, None
        if call is not None:
            self.take(call)


class Catch(TorchFunctionMode):
    """Sees PyTorch's functions while they are called, and calls them."""

    def __init__(self, seen: Seen, sdpa: bool, weights: tuple[Callable, ...] = ()) -> None:
        super().__init__()
        self.seen, self.sdpa, self.weights = seen, sdpa, weights

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is F.multi_head_attention_forward and self.sdpa:
            return self._several_heads(func, args, kwargs)
        result = func(*args, **kwargs)
        if func is F.scaled_dot_product_attention and self.sdpa:
            self.seen.caught(call_of(*args, **kwargs))
        elif func in self.weights and isinstance(result, torch.Tensor):
            self.seen.caught(Call(weights=result))
        elif func is F.linear:
            self.seen.product(*_bound(("input", "weight"), args, kwargs))
        elif func is torch.addmm:
            _, inputs, matrix = _bound(("input", "mat1", "mat2"), args, kwargs)
            self.seen.product(inputs, _turned(matrix))
        elif func in PRODUCTS and len(args) == 2:
            self.seen.product(args[0], _turned(args[1]))
        return result

    def _several_heads(self, func: Any, args: Any, kwargs: Any) -> Any:
        """nn.MultiheadAttention: PyTorch calls its attention inside, where no mode looks."""
        given = inspect.signature(func).bind(*args, **kwargs)
        given.apply_defaults()
        named, calls = given.arguments, []

        def attend(*inner: Any, **more: Any) -> torch.Tensor:
            calls.append(call_of(*inner, **more))
            return sdpa(*inner, **more)

        sdpa = F.scaled_dot_product_attention
        with mock.patch.object(F, "scaled_dot_product_attention", attend):
            without = func(**{**named, "need_weights": False})
        for call in calls:
            call.output = named["out_proj_weight"]
            self.seen.caught(call)
            self.seen.flush()
        return func(**named) if named["need_weights"] else without


def call_of(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Call:
    """The arguments of F.scaled_dot_product_attention."""
    return Call(query, key, value, attn_mask, is_causal, scale)


def _bound(names: tuple[str, ...], args: Any, kwargs: Any) -> list[Any]:
    return [args[k] if k < len(args) else kwargs.get(name) for k, name in enumerate(names)]


def _turned(matrix: Any) -> Any:
    return matrix.T if isinstance(matrix, torch.Tensor) and matrix.ndim == 2 else None


@contextlib.contextmanager
def catching(model: torch.nn.Module, attention: Any, take: Callable[[Call], None]) -> Generator[Seen]:
    """Catch every attention of the forward passes inside; `attention` is what the user names, or None."""
    seen = Seen(take)
    with contextlib.ExitStack() as stack:
        if attention is None and huggingface.can_watch(model):
            seen.way = stack.enter_context(
                huggingface.attention_of_ours(model, lambda **told: seen.caught(Call(**told)))
            )
            stack.enter_context(Catch(seen, sdpa=False))
        elif attention is None:
            fast = torch.backends.mha.get_fastpath_enabled()
            torch.backends.mha.set_fastpath_enabled(False)
            stack.callback(torch.backends.mha.set_fastpath_enabled, fast)
            stack.enter_context(Catch(seen, sdpa=True))
        elif callable(attention):
            functions = SOFTMAX if attention in SOFTMAX else (attention,)
            seen.way = getattr(attention, "__name__", str(attention))
            stack.enter_context(Catch(seen, sdpa=attention is F.scaled_dot_product_attention, weights=functions))
        elif ":" in attention:
            seen.way = attention
            stack.enter_context(_function_of(attention, seen))
            stack.enter_context(Catch(seen, sdpa=False))
        else:
            seen.way = f"the modules {attention}"
            stack.enter_context(_modules_of(model, attention, seen))
            stack.enter_context(Catch(seen, sdpa=False))
        yield seen
        seen.flush()


@contextlib.contextmanager
def _function_of(place: str, seen: Seen) -> Generator[None]:
    """A user's function (query, key, value, ...), or one that returns the attention, alone or last of several."""
    home, _, name = place.partition(":")
    try:
        module = importlib.import_module(home)
        function = getattr(module, name)
    except (ImportError, AttributeError) as error:
        raise TelemetryError(
            f"attention is {place!r}, which cannot be found ({error}). Name a function as 'package.module:function'."
        ) from error

    def watched(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        weights = _weights_among(result)
        if weights is not None:
            seen.caught(Call(weights=weights))
        else:
            query, key, *rest = args
            seen.caught(Call(query, key, rest[0] if rest else None, causal=True, scale=kwargs.get("scale")))
        return result

    with mock.patch.object(module, name, watched):
        yield


@contextlib.contextmanager
def _modules_of(model: torch.nn.Module, pattern: str, seen: Seen) -> Generator[None]:
    """Modules whose output is the attention, or has it among several."""
    found = [module for name, module in model.named_modules() if fnmatch.fnmatchcase(name, pattern)]
    if not found:
        some = ", ".join([name for name, _ in model.named_modules() if name][:8])
        raise TelemetryError(f"no module of the model is called {pattern!r}; some of those that there are: {some}.")

    def hook(_module: Any, _inputs: Any, output: Any) -> None:
        weights = _weights_among(output)
        if weights is not None:
            seen.caught(Call(weights=weights))

    handles = [module.register_forward_hook(hook) for module in found]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _weights_among(output: Any) -> torch.Tensor | None:
    """The last tensor (batch, head, time, time) whose rows sum to 1."""
    several = output if isinstance(output, (tuple, list)) else (output,)
    for each in reversed(several):
        if isinstance(each, torch.Tensor) and each.ndim == 4 and each.shape[-1] == each.shape[-2]:
            sums = each.float().sum(-1)
            if torch.allclose(sums, torch.ones_like(sums), atol=1e-2):
                return each
    return None
