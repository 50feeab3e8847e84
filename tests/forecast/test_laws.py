"""Transformers: a law that was put into made records is found, held-out cells fall inside, and limits are told."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.forecast.made import POWERS, made_law, true_steps

from headway.forecast.answer import NotMeasured
from headway.forecast.ask import answer, ask, cells
from headway.forecast.from_laws import concentration
from headway.forecast.held_out import held_out
from headway.forecast.question import Question
from headway.settings import SettingsError
from headway.tasks.recall import Recall
from headway.tasks.single_location import SingleLocation

MIDDLE = Question("transformer", dimension=32, length=128)
RECALL = Question("recall", vocab=64, pairs=16)


def predicted(question, runs):
    return answer(question, cells(question, runs), ("made",))


@pytest.fixture(scope="module")
def exact():
    """Runs that miss their law by nothing but whole steps."""
    return {model: made_law(model, miss=0.0, noise=0.0) for model in POWERS}


@pytest.mark.parametrize(
    "question, task",
    [
        (MIDDLE, SingleLocation(128, 32)),
        (replace(MIDDLE, copies=4.0), SingleLocation(128, 32, copies=4)),
        (replace(MIDDLE, dimension=48, length=90), SingleLocation(90, 48)),
        (RECALL, Recall(64, 16)),
        (replace(RECALL, copies=3.0), Recall(64, 16, copies=3.0)),
        (replace(RECALL, repeated=0.4), Recall(64, 16, favoured=0.4)),
    ],
)
def test_a_law_that_was_put_in_is_found(exact, question, task):
    told = predicted(question, exact[question.model])
    assert told.steps == pytest.approx(true_steps(question.model, task), rel=0.005)
    assert told.low <= told.steps <= told.high <= 1.02 * told.low
    assert (told.source, told.seeds, told.folders, told.warnings) == ("law", 4, ("made",), ())
    powers = POWERS[question.model]
    assert told.basis.startswith(f"{powers['constant']:.2f} ")
    assert told.basis.split(",")[0].count("^") == 2 + (question.copies > 1) + (question.repeated > 0)


def test_with_repetition_across_samples_the_end_is_where_all_runs_got_to(exact):
    told = predicted(replace(MIDDLE, repeated=0.2), exact["transformer"])
    assert told.ends == "the loss is at most 0.4"
    assert predicted(MIDDLE, exact["transformer"]).ends == "the loss is at most 0.1"
    assert told.published is None


def test_recall_may_be_asked_until_pairs_are_matched(exact):
    plain, half = (predicted(replace(RECALL, accuracy=end), exact["recall"]) for end in (None, 0.5))
    assert plain.ends == "5 % of the answers are right" and half.ends == "50 % of the answers are right"
    assert half.steps == pytest.approx(1.1 * plain.steps, rel=0.01), "so were they made"
    assert plain.published and half.published is None
    assert predicted(replace(RECALL, accuracy=0.05), exact["recall"]).published == plain.published


def test_the_published_law_stands_beside(exact):
    told = predicted(replace(MIDDLE, copies=2.0), exact["transformer"])
    assert told.published == pytest.approx(0.76 * 32**1.29 * 128**0.8 / 2**0.8)
    assert told.published_law == "0.76 d^1.29 T^0.80 B^-0.80"
    assert predicted(RECALL, exact["recall"]).published == pytest.approx(0.55 * 64**0.79 * 16**2.25)


@pytest.mark.parametrize("model", list(POWERS))
def test_held_out_cells_fall_inside_as_often_as_noise_allows(model):
    """Ten made sets of records: 95 % of all held-out seeds, less what a binomial of independent cells allows.

    What is off in a cell is off for its seeds alike, and the three laws of a set share most cells. Cells beyond the
    largest share the error of their law, too: there a row counts as one.
    """
    rows = [row for seed in range(10) for row in held_out(model, made_law(model, seed=seed))]
    half = {f"recall, {each}" for each in ("half right",)} if model == "recall" else set()
    assert {row.what for row in rows} == {model, f"{model}, with B", f"{model}, with p"} | half
    for held in ("each cell alone", "thirds, at random", "the largest"):
        some = [row for row in rows if row.held.startswith(held)]
        independent = (len(some) if held == "the largest" else sum(row.cells for row in some)) // 3
        share = sum(row.inside for row in some) / sum(row.of for row in some)
        assert share >= stats.binom.ppf(0.001, independent, 0.95) / independent


def test_far_away_the_interval_is_wider_and_a_warning_says_why():
    runs = made_law("transformer")
    near, far = predicted(MIDDLE, runs), predicted(replace(MIDDLE, length=4096, dimension=512), runs)
    assert far.high / far.low > 1.1 * near.high / near.low
    assert [warning.split(" was")[0] for warning in far.warnings] == ["d = 512", "T = 4096"]
    assert "16 to 128" in far.warnings[0] and "32 to 256" in far.warnings[1]
    # Each of the two was measured, but their largest values not together.
    assert predicted(replace(MIDDLE, length=256, dimension=128), runs).warnings == (
        "No such combination of sizes was measured: an extrapolation.",
    )


def test_another_learning_rate_is_an_assumption_unless_it_was_measured():
    runs = made_law("transformer")
    base, assumed = predicted(MIDDLE, runs), predicted(replace(MIDDLE, learning_rate=2e-4), runs)
    assert (assumed.steps, assumed.high) == (pytest.approx(base.steps / 2), pytest.approx(base.high / 2))
    assert "is an assumption" in assumed.warnings[0] and base.warnings == ()
    faster = [(settings.changed(training={"learning_rate": 2e-4}), trajectory) for settings, trajectory in runs]
    measured = predicted(replace(MIDDLE, learning_rate=2e-4), [*runs, *faster])
    assert (measured.steps, measured.warnings) == (pytest.approx(base.steps), ())


def test_runs_that_were_trained_otherwise_make_no_law_together_with_the_others(exact):
    some = exact["transformer"]
    other = [(settings.changed(model={"initialisation": "xavier"}), trajectory) for settings, trajectory in some[:4]]
    told = predicted(MIDDLE, [*other, *some])
    assert told.steps == predicted(MIDDLE, some).steps
    assert "PyTorch initialisation" in told.basis and "4 runs with other training settings are left out" in told.basis


def with_table(runs, factor=0.1):
    """The same runs with an embedding of variance 1, and plateaus that are so much shorter."""
    made = []
    for settings, trajectory in runs:
        changed = settings.changed(model={"embedding_scale": round(math.sqrt(3 * settings.task.vocab), 6)})
        clocks = {name: times * factor for name, times in trajectory.clocks.items()}
        made.append((changed, replace(trajectory, clocks=clocks)))
    return made


def test_recall_is_predicted_for_one_initial_embedding_and_the_answer_names_it(exact):
    """Variance 1 takes a factor that depends on the vocabulary size: still one group of runs."""
    linear = exact["recall"]
    runs = [*with_table(linear), *linear]
    plain, chosen = predicted(RECALL, runs), predicted(replace(RECALL, embedding="table"), runs)
    assert plain.steps == predicted(RECALL, linear).steps and "an embedding of variance 1/(3 N_tokens)" in plain.basis
    assert chosen.steps == pytest.approx(0.1 * plain.steps, rel=0.01) and "an embedding of variance 1," in chosen.basis
    repeated = predicted(replace(RECALL, copies=2.0), runs)
    assert "an embedding of variance 1," in repeated.basis, "as the runs with repetition of paper B's appendix"
    with pytest.raises(NotMeasured, match="no record of recall"):
        predicted(replace(RECALL, embedding="table"), linear)


def test_runs_as_in_the_appendix_count_before_more_runs_of_another_task(exact):
    table = with_table(exact["recall"])
    other = [(settings.changed(task={"mapping": "function"}), trajectory) for settings, trajectory in exact["recall"]]
    asked = replace(RECALL, embedding="table")
    assert predicted(asked, [*with_table(other, 0.5), *table[1:]]).steps == pytest.approx(
        predicted(asked, table).steps, rel=0.01
    )


def test_a_warning_says_where_another_embedding_takes_a_time_outside_the_interval(monkeypatch, exact):
    runs = [*with_table(exact["recall"]), *exact["recall"]]
    monkeypatch.setattr("headway.forecast.ask.runs_of", lambda *_: runs)
    assert "of variance 1 (--embedding table)" in ask(RECALL, []).warnings[-1]
    assert "of variance 1/(3 N_tokens) (--embedding linear)" in ask(replace(RECALL, embedding="table"), []).warnings[-1]
    same = [*with_table(exact["recall"], 1.0), *exact["recall"]]
    monkeypatch.setattr("headway.forecast.ask.runs_of", lambda *_: same)
    assert ask(RECALL, []).warnings == ()


def test_an_embedding_is_asked_of_recall_only():
    with pytest.raises(SettingsError, match="applies to recall only"):
        replace(MIDDLE, embedding="table")


def test_plateaus_that_never_ended_are_left_out_and_told():
    runs = made_law("transformer")
    for _, trajectory in runs[5:7]:
        trajectory.arrays["loss"][:2] = 0.5
    told = predicted(MIDDLE, runs)
    assert told.warnings[0].startswith("4 of 60 plateaus in the records never ended")


def test_nothing_measured_is_an_error_that_says_what_to_run():
    with pytest.raises(
        NotMeasured, match=r"no record of transformer in made.*headway run transformer-law --grid paper"
    ):
        predicted(MIDDLE, made_law("recall"))
    with pytest.raises(NotMeasured, match=r"0.55 N_tokens\^0.79 N_pairs\^2.25: 7,\d\d\d steps"):
        predicted(RECALL, [])


def test_a_size_that_never_changed_must_be_asked_for_as_it_is():
    plain = [run for run in made_law("transformer") if run[0].task.copies == 1]
    with pytest.raises(NotMeasured, match=r"copies is 4, but it is 1 in every record.*headway run transformer-law"):
        predicted(replace(MIDDLE, copies=4.0), plain)


def test_too_few_cells_are_no_law():
    with pytest.raises(NotMeasured, match="2 of 2 cells in made have a plateau that ended: too few"):
        predicted(replace(MIDDLE, length=32), [run for run in made_law("transformer") if run[0].task.length == 32][:2])


def test_concentration_is_how_much_more_often_two_samples_agree():
    things, repeated, favourites = 12, 0.3, 3
    chances = np.full(things, (1 - repeated) / things)
    chances[:favourites] += repeated / favourites
    found = concentration(things, repeated, favourites)
    assert found == pytest.approx(things * np.sum(chances**2))
    d, p = 16, 0.1
    assert concentration(d, p) == pytest.approx(p**2 * d + (1 - p) ** 2 + 2 * p * (1 - p))
    assert math.isclose(concentration(5, 0.0, 2), 1)
