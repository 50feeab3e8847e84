"""Every setting as a typed option: `--task.ratio 1.3`, `--task.blocks 13-14 9-12 1-8`."""

from __future__ import annotations

import ast
from typing import Any, get_args, get_origin

import tyro

from headway.settings.given import Given, Part
from headway.settings.training import Arguments, Groups
from headway.settings.typed import block_text
from headway.tasks.chain import Blocks, Weights

MOST_LAGS = 10_000
"""Of a block as it is typed: a slip such as 1-10000000000 must not fill the memory."""

REGISTRY = tyro.constructors.ConstructorRegistry()


def lags(text: str) -> tuple[int, ...]:
    """A block as it is typed: "5-8", "1,3" or "2,5-7"."""
    block: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not (first.isdecimal() and (last.isdecimal() or not dash)):
            raise ValueError(f"{part!r} is no lag and no range of lags")
        run = range(int(first), int(last if dash else first) + 1)
        if not run:
            raise ValueError(f"{part} runs backwards; the smaller lag comes first")
        if len(block) + run.stop - run.start > MOST_LAGS:
            raise ValueError(f"{part} makes more than {MOST_LAGS} lags")
        block += run
    return tuple(block)


def read_blocks(arguments: list[str]) -> Blocks:
    try:
        return tuple(lags(text) for text in arguments)
    except ValueError as error:
        wrong = _shortened([str(error)])
        raise ValueError(
            f"got {_shortened(arguments)}: {wrong}. Write blocks of lags as in 1-4 5-8 9-12 or 1,3 2,4"
        ) from None


def read_weights(arguments: list[str]) -> Weights:
    try:
        return tuple(tuple(float(number) for number in text.split(",")) for text in arguments)
    except ValueError:
        raise ValueError(
            f"got {_shortened(arguments)}; write the weights block by block as in 0.7,0.3 0.5,0.5"
        ) from None


def read_arguments(arguments: list[str]) -> Arguments:
    """Arguments of an optimiser as they are typed: beta=0.9 nesterov=False."""
    read = []
    for text in arguments:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise ValueError(f"got {_shortened(arguments)}; write arguments by name, as in beta=0.9 nesterov=False")
        try:
            read.append((name, ast.literal_eval(value)))
        except (ValueError, SyntaxError):
            read.append((name, value))
    return tuple(read)


def read_groups(arguments: list[str]) -> Groups:
    """Rates of their own as they are typed: W=0.01,1 is a hundredth of the learning rate, and all of the decay."""
    read = []
    for text in arguments:
        name, equals, numbers = text.rpartition("=")
        try:
            rate, decay = (float(number) for number in numbers.split(","))
        except ValueError:
            equals = ""
        if not equals or not name:
            raise ValueError(
                f"got {_shortened(arguments)}; write groups as NAME=RATE,DECAY, two factors, as in W=0.01,1 v=1,0"
            )
        read.append((name, rate, decay))
    return tuple(read)


def _shortened(arguments: list[str]) -> str:
    words = " ".join(arguments)
    return words if len(words) <= 100 else f"{words[:100]}..."


@REGISTRY.primitive_rule
def _parts(info: tyro.constructors.PrimitiveTypeInfo) -> tyro.constructors.PrimitiveConstructorSpec[Any] | None:
    """A part that is chosen by its name; one that is given as a function stays what it is unless a name is typed."""
    if info.type != Part:
        return None
    return tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="NAME",
        instance_from_str=lambda words: words[0],
        is_instance=lambda value: isinstance(value, (str, Given)),
        str_from_instance=lambda value: [str(value)],
    )


def _is_arguments(type_: Any) -> bool:
    """`Arguments`, also where tyro has narrowed its values to those of a default."""
    if type_ == Arguments:
        return True
    rows = get_args(type_)[:1]
    pair = get_args(rows[0]) if rows and get_origin(type_) is tuple else ()
    return len(pair) == 2 and pair[0] is str and pair[1] is not Ellipsis


@REGISTRY.primitive_rule
def _block_lists(
    info: tyro.constructors.PrimitiveTypeInfo,
) -> tyro.constructors.PrimitiveConstructorSpec[Any] | None:
    """tyro has no notation of its own for lists of lists."""
    if info.type == Blocks:
        word, read, write = "LAGS", read_blocks, block_text
    elif info.type == Weights:
        word, read, write = "NUMBERS", read_weights, lambda row: ",".join(map(str, row))
    elif _is_arguments(info.type):
        word, read, write = "NAME=VALUE", read_arguments, lambda pair: f"{pair[0]}={pair[1]}"
    elif info.type == Groups:
        word, read, write = "NAME=RATE,DECAY", read_groups, lambda row: f"{row[0]}={row[1]},{row[2]}"
    else:
        return None
    return tyro.constructors.PrimitiveConstructorSpec(
        nargs="*",
        metavar=f"{word} ...",
        instance_from_str=read,
        is_instance=lambda value: isinstance(value, tuple),
        str_from_instance=lambda rows: [write(row) for row in rows],
    )
