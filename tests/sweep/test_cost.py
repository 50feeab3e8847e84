"""How long programs take: by the formula, by records near them, and against records that were left out."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.training.tiny import TINY, changed

from benchmarks import cost_model
from headway.experiments import find
from headway.records import Cell
from headway.store import Store
from headway.sweep import arrange, schedule
from headway.sweep.bundle import pack, waves
from headway.sweep.cost import RATES, Cost, Costs, Work, together, work_of
from headway.sweep.engines.gpus import Gpu
from headway.sweep.engines.layout import Layout
from headway.sweep.plan import footprint_of
from headway.sweep.queue import Job, span
from headway.tasks.construction import ConstructionSettings
from headway.tasks.recall import Recall
from headway.tasks.toy import Toy, toy_settings

RESULTS = Path(__file__).parents[2] / "results"
ONE, OTHER = Cell(TINY, (0, 1)), Cell(changed(TINY, training={"learning_rate": 0.3}), (0, 1))
COMPARED = Cell(changed(TINY, task={"references": (1,)}), (0, 1))
SMALL = Cell(ConstructionSettings(TINY.task, (0, 5), test_samples=8), (0,))
GPU = Layout(4, (Gpu("0", 140 << 30),), beside=2)


@pytest.fixture(scope="module")
def made():
    return cost_model.made_in(RESULTS)


def test_twice_the_steps_seeds_or_bytes_take_twice_as_long_but_for_what_is_fixed():
    rates = RATES["gpu"]
    one = Work("transformer", "recall", 4, 1000.0, 1e9)
    fixed, launch = rates["transformer"].fixed, rates["transformer"].launch
    rest = one.cost(rates).alone - fixed
    assert Work("transformer", "recall", 4, 2000.0, 1e9).cost(rates).alone == pytest.approx(fixed + 2 * rest)
    more = Work("transformer", "recall", 8, 1000.0, 1e9), Work("transformer", "recall", 4, 1000.0, 2e9)
    assert [each.cost(rates).alone for each in more] == pytest.approx([fixed + launch + 2 * (rest - launch)] * 2)
    assert one.cost(rates).work == pytest.approx(rest - launch)


def test_others_on_the_device_cost_nothing_until_it_is_full():
    cost = Cost(100.0, 10.0)
    assert cost.beside(1) == pytest.approx(100.0, rel=1e-3)
    assert cost.beside(5) == pytest.approx(100.0, rel=0.02)
    assert cost.beside(50) == pytest.approx(500.0, rel=0.01)


def test_a_record_of_the_same_program_says_how_long_it_takes(undisturbed):
    """Nothing ran beside it."""
    [bundle] = pack([undisturbed.cell])
    costs = Costs([undisturbed])
    assert costs.of(bundle, "cpu").alone == pytest.approx(undisturbed.provenance["seconds"], rel=0.03)
    assert Costs().of(bundle, "cpu") == work_of(bundle).cost(RATES["cpu"])
    assert Costs([undisturbed]).of(bundle, "gpu") == Costs().of(bundle, "gpu"), "it was made on a CPU"


def test_what_goes_on_to_its_last_step_costs_all_of_them_and_what_stops_a_share():
    stopping = Recall.usual().changed(training={"steps": 1000})
    lasting = stopping.changed(training={"tail": -1.0})
    steps = [work_of(pack([Cell(settings, (0,))])[0]).steps for settings in (stopping, lasting)]
    assert steps[0] < steps[1] == 1000


def test_what_ran_beside_a_record_is_read_from_when_it_ended(made):
    """Blocks in which a person had started several processes are seen as such."""
    most = max(each.beside for each in made if each.platform == "gpu")
    assert 5 < most < 20 and min(each.beside for each in made) == 1.0
    cells = sum(len(each.runs) for each in made)
    records = list(Store(RESULTS).records())
    assert cells + sum("continued" in record.provenance for record in records) == len(records)


@pytest.mark.parametrize("kinds", [("moving-window", "in-context-markov"), pytest.param((), marks=pytest.mark.slow)])
def test_the_time_of_records_that_were_left_out_is_right_within_one_and_a_half(made, kinds):
    """In all, on the GPU; of single programs half are, and docs/cluster.md says so."""
    gpu = [each for each in made if each.platform == "gpu" and (not kinds or each.runs[0].cell.kind in kinds)]
    missed = cost_model.halves(gpu)
    assert len(missed) == len(gpu) >= (10 if kinds else 200)
    assert 1 / 1.5 < cost_model.ratio(missed) < 1.5
    assert cost_model.within(missed, 1.5) > 0.45 and cost_model.within(missed, 2.0) > 0.7


@pytest.mark.slow
def test_the_constants_are_those_that_fit_the_records(made):
    """New records may move them a little; when they move more, `python -m benchmarks.cost_model results --fit`.

    Of the other forms the code is newer than the records.
    """
    fitted = cost_model.fit(made)
    for form, found in ((form, fitted[form]) for form in ("transformer", "own")):
        work = Work(form, form, 10, 2000.0, 5e8)
        assert work.cost({form: found}).alone == pytest.approx(work.cost(RATES["gpu"]).alone, rel=0.5), form


def test_a_sweep_is_cut_only_where_a_program_would_keep_the_others_waiting():
    """Two cells of one shape: one program beside a longer one, two for two workers that have nothing else."""
    [pair] = pack([ONE, OTHER])
    [longer] = pack([Cell(changed(TINY, training={"steps": 10_000_000}), (0, 1, 2, 3))])
    costs = Costs()
    assert [len(each.cells) for each in arrange.arrange([pair], Layout(2), costs).bundles] == [1, 1]
    assert [len(each.cells) for each in arrange.arrange([pair, longer], Layout(2), costs).bundles] == [2, 1]
    assert [len(each.cells) for each in arrange.arrange([pair], Layout(1), costs).bundles] == [2]


def test_what_is_compared_waits_and_small_things_run_beside_a_gpu():
    first, second = waves([COMPARED, SMALL])
    arranged = arrange.arrange([*first, *second], GPU, Costs())
    places = {bundle.cells[0].kind: job.place for bundle, job in zip(*arranged, strict=True)}
    assert places == {"construction": "cpu", "markov": "device"}
    models = toy_settings(Toy()), next(iter(find("induction-minimal").grids["paper"].values()))
    tiny, large = (pack([Cell(each, tuple(range(10)))])[0] for each in models)
    assert [arrange.place_of(each, GPU, Costs()) for each in (tiny, large)] == ["cpu", "device"]
    [last] = [job for bundle, job in zip(*arranged, strict=True) if bundle.cells == (COMPARED,)]
    assert {arranged.bundles[number].cells[0] for number in last.needs} == set(COMPARED.needs())
    assert {job.place for job in arrange.arrange(first, Layout(2), Costs()).jobs} == {"device"}, "no GPU"


def test_as_many_processes_share_a_gpu_as_are_through_first_and_as_fit():
    """Small programs by as many as there are; a device that one fills, by one; and no more than its memory holds."""
    bundles = pack([ONE, COMPARED, SMALL])
    assert arrange.quickest(bundles, GPU, Costs()).workers == 2, "as many as there are cells for"
    needed = footprint_of(bundles[-1]).of(2)
    tight = Layout(4, (Gpu("0", int(1.5 * needed / 0.81)),), beside=2)
    assert arrange.quickest(bundles, tight, Costs()).workers == 1


def test_a_device_that_is_full_makes_everybody_slower_and_one_that_is_not_nobody():
    """Each holds the device for half of its time; one of them waits for another."""
    chain = [Job(0, 100.0, 50.0), Job(1, 100.0, 50.0, needs=frozenset({0}))]
    jobs = [*chain, *(Job(number, 100.0, 50.0) for number in range(2, 12))]
    one, two, all_at_once = (span(jobs, {"device": number}) for number in (1, 2, 12))
    assert one == pytest.approx(1200.0) and two == pytest.approx(600.0)
    assert all_at_once == pytest.approx(650.0), "the last of the chain runs alone, and does not fill the device"
    idle = [replace(job, work=0.0) for job in jobs]
    assert span(idle, {"device": 12}) == pytest.approx(200.0) and span(idle, {"device": 1}) == pytest.approx(1200.0)


def test_a_schedule_lists_what_begins_first_first(tmp_path):
    cells = [ONE, Cell(changed(TINY, training={"steps": 90_000_000}), (0, 1)), COMPARED]
    left = schedule.left_of(cells, Store(tmp_path))
    found = schedule.on_processes(left, Layout(2), Costs())
    assert found.parts[0].bundle.cells[0].settings.training.steps == 90_000_000
    assert found.seconds >= found.parts[0].seconds > found.parts[1].seconds
    alone = schedule.one_by_one(left, None, Costs(), "cpu")
    assert alone.seconds == pytest.approx(sum(part.seconds for part in alone.parts))
    assert schedule.one_by_one(left, None, Costs(), None).seconds is None
    assert together([]) == [] and Costs().of(left[0], "cpu").alone > 0
