"""In-context associative recall of paper B: find the pair that the query names, and say its other half."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from headway.lazily import Array, Bool, Float, Int, PRNGKeyArray, jax, jnp
from headway.records import About
from headway.settings.checks import require, require_number, require_probability, require_whole, settle
from headway.tasks.task import Example, with_numbers

if TYPE_CHECKING:
    from headway.tasks.run import Settings


@dataclass(frozen=True)
class Recall:
    """k_1 v_1 .. k_n v_n q -> f(q), where v_i = f(k_i) and f maps symbols to symbols, at random for each sequence.

    With three pairs from a pool of symbols 0 .. 9, keys and values alike:

        4 7   2 0   9 4 | 2   ->   0
                ^         ^ the query: its pair stands in exactly one slot

    The other keys are drawn from the other symbols, with replacement or, as the paper's appendix says, without; f is
    any function or, as it says, a permutation. With B copies every other slot holds the query's pair, too, with
    probability (B - 1)/(n - 1), so that there are B on average and one at least; as the appendix says, every slot
    does, with probability B/n, so that there may be none. With cross-sample repetition the query is one of the first
    `favourites` symbols with probability p, and otherwise any symbol.
    """

    NAME: ClassVar[str] = "recall"
    NUMBERS: ClassVar[tuple[str, ...]] = ("copies", "favoured")
    PROGRESS: ClassVar[str] = "accuracy"

    vocab: int = 64
    """N_tokens, the vocabulary size: symbols in the pool that keys and values share."""
    pairs: int = 16
    """N_pairs: how many pairs a sequence shows before the query."""
    copies: float = 1.0
    """B: how many slots hold the query's pair on average; with 1 it is always one (context repetition)."""
    favoured: float = 0.0
    """p: how probably the query is one of the favourite symbols (cross-sample repetition)."""
    favourites: int = 2
    """How many symbols are favourites."""

    mapping: Literal["function", "permutation"] = field(default="function", metadata={"added": "0.3"})
    """f: any symbol may be the value of several keys, or of one."""
    keys: Literal["repeated", "distinct"] = field(default="repeated", metadata={"added": "0.3"})
    """The other keys of a sequence: drawn with replacement, or without, so that no two slots hold the same one."""
    slots: Literal["one-at-least", "independent"] = field(default="one-at-least", metadata={"added": "0.3"})
    """With copies: one slot holds the query's pair for sure and each other one by chance; or each by chance alone."""

    rungs: ClassVar[tuple[str, ...]] = ("uniform", "any value of the context", "the query's value")

    def __post_init__(self) -> None:
        settle(self, "task.")
        require_whole("task.vocab", self.vocab, 2)
        require_whole("task.pairs", self.pairs, 1)
        require_whole("task.favourites", self.favourites, 1)
        require_number("task.copies", self.copies, least=1)
        require(
            self.copies <= self.pairs,
            f"{self.copies:g} copies do not fit into {self.pairs} pairs. Use task.copies <= {self.pairs}.",
        )
        require(
            self.favourites <= self.vocab,
            f"{self.favourites} favourites are more than the {self.vocab} symbols. Use at most {self.vocab}.",
        )
        require_probability("task.favoured", self.favoured)
        require(
            self.keys == "repeated" or self.pairs < self.vocab,
            f"{self.pairs} distinct keys besides the query do not fit into {self.vocab} symbols. Use task.pairs < "
            f'{self.vocab}, or task.keys "repeated".',
        )

    @classmethod
    def usual(cls) -> Settings[Recall]:
        """Paper B's four layers, its permutation and its distinct keys; symbols enter one-hot through a linear map.

        Ours: the start, as for single-location regression; it goes on until most answers are right, because with few
        pairs naming any value gets 5 % right.
        """
        from headway.tasks.run import plateau_settings

        task = cls(mapping="permutation", keys="distinct", slots="independent")
        settings: Any = plateau_settings(task, threshold=0.05)
        return settings.changed(model={"layers": 4, "causal": True}, training={"until": 0.9, "test_samples": 2048})

    @property
    def reads(self) -> int:
        """Keys, values and the query."""
        return 2 * self.pairs + 1

    @property
    def predicted(self) -> int:
        return 1

    @property
    def chance(self) -> float:
        """Accuracy without a look at the sequence: 1/N_tokens."""
        return 1 / self.vocab

    @property
    def silence(self) -> float:
        """log N_tokens: what a model loses that finds all symbols equally probable."""
        return math.log(self.vocab)

    @property
    def naming(self) -> float:
        """Accuracy of naming the value in any one slot, without repetition.

        It is right if the slot is the query's, or if the slot's value happens to be the query's, which that of another
        key is not where f is a permutation.
        """
        right = 1 / self.pairs
        return right + ((1 - right) / self.vocab if self.mapping == "function" else 0.0)

    def check(self, settings: Any) -> None:
        threshold = settings.training.threshold
        require(
            threshold is None or self.chance < threshold <= 1,
            f"training.threshold is {threshold}, but chance is {self.chance:.2g}. Use a number above "
            f"{self.chance:.2g} and at most 1, or a larger vocabulary.",
        )

    def about(self) -> About:
        return About(
            title=f"Associative recall of {self.pairs} pairs, vocabulary size {self.vocab}",
            rungs=self.rungs,
            loss="cross-entropy",
            progress="accuracy",
            measures=(
                ("attention_relevant", "attention of the query on the value that it should name"),
                ("attention_previous", "attention of values on the keys before them"),
                ("accuracy_repeated", "accuracy on sequences with the repetition of the training"),
                ("loss_repeated", "loss on sequences with the repetition of the training"),
            ),
        )

    def sample(self, key: PRNGKeyArray) -> Example:
        """One sequence; B and p may be traced. `extra` says which pairs are the query's."""
        mapping_key, query_key, choice_key, slot_key, copy_key, others_key = jax.random.split(key, 6)
        mapping = self._mapping(mapping_key)
        usual = jax.random.uniform(choice_key) < self.favoured
        query = jax.random.randint(query_key, (), 0, jnp.where(usual, self.favourites, self.vocab))
        relevant = self._slots(slot_key, jax.random.uniform(copy_key, (self.pairs,)))
        # Any symbol but the query: one of the next vocab - 1, counted round the pool.
        keys = jnp.where(relevant, query, (query + self._others(others_key)) % self.vocab)
        inputs = jnp.append(jnp.stack([keys, mapping[keys]], axis=1).ravel(), query)
        return Example(inputs, mapping[query][None], extra=relevant)

    def _mapping(self, key: PRNGKeyArray) -> Int[Array, " {self.vocab}"]:
        """f as a table."""
        if self.mapping == "permutation":
            return jax.random.permutation(key, self.vocab)
        return jax.random.randint(key, (self.vocab,), 0, self.vocab)

    def _slots(self, key: PRNGKeyArray, chance: Float[Array, " {self.pairs}"]) -> Bool[Array, " {self.pairs}"]:
        """Which slots hold the query's pair; without copies, one."""
        one = jnp.arange(self.pairs) == jax.random.randint(key, (), 0, self.pairs)
        if self.slots == "independent":
            return jnp.where(jnp.asarray(self.copies) > 1, chance < self.copies / self.pairs, one)
        return one | (chance < (self.copies - 1) / max(self.pairs - 1, 1))

    def _others(self, key: PRNGKeyArray) -> Int[Array, " {self.pairs}"]:
        """How far behind the query, counted round the pool, the key of each slot is if it is another."""
        if self.keys == "distinct":
            return 1 + jax.random.permutation(key, self.vocab - 1)[: self.pairs]
        return jax.random.randint(key, (self.pairs,), 1, self.vocab)

    def ladder(self, example: Example) -> Float[Array, "rung 1 symbol"]:
        """Any symbol; a value of the context, as often as it stands there; the value behind the query's key."""
        symbols = jnp.arange(self.vocab)
        named = jnp.mean(example.inputs[1::2, None] == symbols, axis=0)
        known = symbols == example.targets[0]
        uniform = jnp.full((self.vocab,), 1 / self.vocab)
        return jnp.log(jnp.stack([uniform, named, known.astype(uniform.dtype)]))[:, None]

    def tests(self) -> dict[str, Recall]:
        """Without any repetition, and with that of the training."""
        return {"": with_numbers(self, {"copies": 1.0, "favoured": 0.0}), "repeated": self}

    def measures(self, example: Example, reading: Any, test: str) -> dict[str, Array]:
        """`attention_relevant` is the query's attention on the value it should say, `attention_previous` that of values
        on the keys right before them, in all layers but the last, of which only the query's row is computed.
        """
        guess = reading.logits[0]
        target = example.targets[0]
        if test == "repeated":
            right = (jnp.argmax(guess) == target).astype(guess.dtype)
            return {"loss_repeated": -jax.nn.log_softmax(guess)[target], "accuracy_repeated": right}
        relevant = example.extra.astype(guess.dtype)
        patterns = [heads.pattern for heads in reading.heads]
        found = {"attention_relevant": jnp.stack([pattern[:, -1, 1::2] @ relevant for pattern in patterns])}
        before = [_previous(pattern) for pattern in patterns[:-1]]
        return {**found, "attention_previous": jnp.stack(before)} if before else found


def _previous(pattern: Float[Array, "head query key"]) -> Float[Array, " head"]:
    """Mean over the values' positions 1, 3, .. of the attention on the position before."""
    value = jnp.arange(1, pattern.shape[1], 2)
    return jnp.mean(pattern[:, value, value - 1], axis=1)
