"""The papers that are reproduced: what each is about, its task in a picture, and the letters of its claims."""

from __future__ import annotations

from headway.report.page.results import Paper, TaskPicture

PAPERS = (
    Paper(
        "A",
        "Incremental Learning of Sparse Attention Patterns in Transformers",
        "called paper A here; anonymous authors, under review; claims with H, R or T or marked (ours) are ours",
        """The next token of a Markov chain depends on blocks of lags, the newest block most. A model that has found the
        first block, the first two, and so on predicts like a rung of a ladder, from uniform to the truth.""",
        (
            TaskPicture(
                ("6", "5", "4", "3", "2", "1", "?"),
                ((5, 6, 0), (4, 6, 0), (3, 6, 1), (2, 6, 1), (1, 6, 2), (0, 6, 2)),
                "tokens by lag; block 1 counts most, block 3 least",
            ),
        ),
        "AHRT",
        ours="HRT",
    ),
    Paper(
        "B",
        "The emergence of sparse attention",
        "called paper B here; N. Zucchet, F. D'Angelo, A. Lampinen, S. Chan, slides and appendix, 2025",
        """One of T tokens matters, and attention has to find it: single-location regression, in a toy model and in a
        transformer. Associative recall needs two such steps: find the queried key, and name the value behind it. On the
        expected loss the toy model is deterministic: all seeds of a run have a plateau of the same length and are not
        independent tests.""",
        (
            TaskPicture(("x₁", "x₂", "x₃", "x₄", "x₅", "x₆", "y"), ((3, 6, 0),), "single-location regression"),
            TaskPicture(("a", "7", "b", "2", "c", "5", "b", "?"), ((3, 7, 0), (2, 6, 1)), "associative recall"),
        ),
        "B",
    ),
    Paper(
        "E",
        "The Evolution of Statistical Induction Heads",
        "Edelman et al. 2024, arXiv 2402.11004",
        """Every sequence has its own Markov chain. An induction head predicts the next state from what followed earlier
        occurrences of the current one. The rungs are uniform, unigram (frequencies of the states so far) and
        bigram.""",
        (
            TaskPicture(
                ("0", "1", "1", "0", "2", "1", "0", "1", "?"),
                ((6, 8, 0), (3, 8, 0), (2, 8, 0)),
                "what followed the last state, 1, earlier in the sequence",
            ),
        ),
        "E",
    ),
    Paper(
        "V",
        "Sub-n-grams as near-stationary points",
        "Varre, Yüce, Flammarion 2025, arXiv 2508.12837",
        """Every sequence has its own chain, whose next state depends on the last n - 1. The rungs are the k-grams with
        k up to n, which use only the last k - 1 states.""",
        (
            TaskPicture(
                ("0", "1", "0", "2", "0", "1", "1", "0", "1", "?"),
                ((6, 9, 0), (2, 9, 0)),
                "trigram: what followed the last two states, 0 1, earlier",
            ),
        ),
        "V",
    ),
    Paper(
        "Z",
        "Training Dynamics of In-Context Learning in Linear Attention",
        "Zhang, Singh, Latham, Saxe 2025, arXiv 2501.16265",
        """Linear regression in context: examples x, y share a weight vector that changes from sequence to sequence;
        linear attention predicts y for the query from all of them.""",
        (
            TaskPicture(
                ("x₁", "y₁", "x₂", "y₂", "x₃", "y₃", "x", "?"),
                ((5, 7, 0), (3, 7, 0), (1, 7, 0)),
                "each example counts by how similar its x is to the query",
            ),
        ),
        "Z",
    ),
    Paper(
        "G",
        "What Happens During the Loss Plateau?",
        "Gopalani, Hu 2025, arXiv 2506.13688",
        """Moving-window sums: the first output repeats the first number, every other output is the sum of two
        neighbours, modulo a prime. For these, attention has to find the two positions.""",
        (
            TaskPicture(
                ("3", "16", "5", "9", "|", "3", "2", "?"),
                ((2, 7, 0), (1, 7, 0), (1, 6, 1), (0, 6, 1), (0, 5, 2)),
                "3, then 3 + 16 = 2, then 16 + 5 = ?, modulo 17",
            ),
        ),
        "G",
    ),
    Paper(
        "N",
        "Real text on the ladder",
        "ours",
        """The rungs are n-grams of the training text, from uniform to the longest: a language model is compared with
        what the last token, the last two, and so on predict.""",
        (
            TaskPicture(
                ("l", "a", "d", "d", "e", "?"),
                ((4, 5, 0), (3, 5, 1), (2, 5, 2)),
                "bigram, trigram and 4-gram use one, two and three letters",
            ),
        ),
        "N",
        ours="N",
    ),
)
