"""Which program is next, without any process."""

import pytest

from headway.sweep.queue import Job, Queue, at_least, span, ways

CHAIN = (Job(0, 5.0), Job(1, 30.0), Job(2, 1.0), Job(3, 40.0, needs=frozenset({2})))


def taken(queue, place="device"):
    """All that are ready, in the order in which they are given out."""
    return list(iter(lambda: queue.take(place), None))


def test_the_longest_way_to_the_end_begins():
    """The short job that the longest one waits for goes before everything that is shorter than both."""
    assert ways(CHAIN) == {0: 5.0, 1: 30.0, 2: 41.0, 3: 40.0}
    queue = Queue(CHAIN)
    assert taken(queue) == [2, 1, 0]
    queue.finish(2)
    assert taken(queue) == [3]
    for number in (0, 1, 3):
        queue.finish(number)
    assert queue.over


def test_of_equal_ones_the_first_begins():
    assert taken(Queue([Job(2), Job(0), Job(1)])) == [0, 1, 2]


def test_each_place_has_its_own():
    queue = Queue([Job(0), Job(1, place="cpu")])
    assert taken(queue, "cpu") == [1] and taken(queue, "device") == [0]
    assert queue.wanted("cpu") == 1
    queue.finish(1)
    assert queue.wanted("cpu") == 0 and not queue.over


def test_what_killed_its_worker_is_tried_alone_and_given_up_after_so_many_deaths():
    queue = Queue([Job(0, 9.0), Job(1)], retries=2)
    assert queue.take("device") == 0 and queue.take("device") == 1
    assert queue.bury(0)
    assert not queue.alone and queue.take("device") is None, "somebody works"
    queue.finish(1)
    assert queue.alone and queue.take_alone() == 0 and not queue.over
    assert queue.bury(0) and queue.take_alone() == 0
    assert not queue.bury(0) and queue.over


def test_what_waits_for_a_job_that_has_to_run_alone_does_not_stop_it():
    queue = Queue([Job(0), Job(1, needs=frozenset({0}))])
    queue.take("device")
    queue.bury(0)
    assert queue.alone and queue.take_alone() == 0
    queue.finish(0)
    assert queue.take("device") == 1


def test_what_another_command_computes_is_asked_for_again_later():
    queue = Queue([Job(0)])
    assert queue.take("device", now=1.0) == 0
    queue.give_back(0, not_before=3.0)
    assert queue.take("device", now=2.0) is None and not queue.over
    assert queue.take("device", now=3.0) == 0


@pytest.mark.parametrize("workers, seconds", [(1, 76.0), (2, 41.0), (9, 41.0)])
def test_the_span_is_that_of_the_workers_and_not_less_than_the_longest_way(workers, seconds):
    assert span(CHAIN, {"device": workers, "cpu": 0}) == pytest.approx(seconds)


def test_what_is_left_of_a_queue_is_what_waits_and_the_rest_of_what_is_worked_on():
    queue = Queue([Job(0, 8.0, 4.0), Job(1, 6.0), Job(2, 3.0, place="cpu"), Job(3, 1.0)])
    assert [queue.take("device"), queue.take("device"), queue.take("cpu")] == [0, 1, 2]
    queue.finish(1)
    assert queue.rest({0: 0.75}) == [Job(0, 2.0, 1.0), Job(2, 3.0, place="cpu"), Job(3, 1.0)]
    queue.bury(2)
    assert {job.number for job in queue.rest({})} == {0, 2, 3}, "what will be tried again is left, too"


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_what_no_order_can_undercut_is_below_the_span_and_near_it(workers):
    jobs = [Job(n, 1.0 + n % 7, 0.3 * (n % 5)) for n in range(40)]
    whole = span(jobs, {"device": workers})
    assert 0.8 * whole < at_least(jobs, {"device": workers}) <= whole + 1e-9
    assert at_least([], {"device": workers, "cpu": 0}) == 0
