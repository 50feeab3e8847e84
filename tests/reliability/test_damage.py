"""A file that lost a bit or its end is never believed: it is refused, or set aside and computed again."""

import random
import shutil

import pytest
from tests.reliability.cells import CELLS, leftovers, outcome
from tests.reliability.faults import cut, flip

from headway.store import Store, StoreError

TIMES = 200
INJECTIONS = {"a bit flipped": flip, "the end cut off": cut}


@pytest.mark.parametrize("injection", INJECTIONS)
def test_damaged_records(resident, expected, tmp_path, injection, tell):
    whole = tmp_path / "whole"
    assert resident.run(whole) == "done"
    chance, refused = random.Random(13), 0
    for number in range(TIMES):
        root = tmp_path / str(number)
        shutil.copytree(whole, root)
        victim = chance.choice(sorted(path for path in root.rglob("*") if path.is_file()))
        INJECTIONS[injection](victim, chance)
        damaged = victim.read_bytes()
        try:
            assert outcome(root) == expected, "a flipped blank between two words changes nothing"
        except StoreError as error:
            refused += 1
            assert "Nothing was changed" in str(error)
            with pytest.raises(StoreError):
                Store(root).load(_cell_of(victim)).verify()
            assert victim.read_bytes() == damaged, "a record is not touched, even a damaged one"
            shutil.rmtree(victim.parent)
            if refused % 20 == 0:  # computing again is the same for all of them
                assert resident.run(root) == "done"
                assert outcome(root) == expected
        shutil.rmtree(root)
    assert refused > TIMES // 2
    kept = TIMES - refused
    tell("here", f"a finished record: {injection}", TIMES, f"{refused} refused, {kept} read correctly")


def _cell_of(victim):
    [cell] = [cell for cell in CELLS if cell.identity == victim.parent.name]
    return cell


@pytest.mark.parametrize("injection", INJECTIONS)
def test_damaged_unfinished_work(resident, expected, tmp_path, injection, tell):
    chance, damaged, aside = random.Random(14), 0, 0
    while damaged < TIMES // 4:
        root, left = tmp_path / f"{damaged}", tmp_path / f"{damaged}-left"
        resident.begin(root)
        resident.frozen_at(
            chance.uniform(0, resident.seconds),
            lambda root=root, left=left: shutil.copytree(root, left) if root.exists() else left.mkdir(),
        )
        assert resident.end() == "done"
        shutil.rmtree(root)
        victims = [path for path in left.glob("*.partial/*") if path.is_file() and path.stat().st_size]
        if victims:
            INJECTIONS[injection](chance.choice(sorted(victims)), chance)
            assert resident.run(left) == "done"
            assert outcome(left) == expected
            rest = leftovers(left)
            assert all(".damaged-" in name for name in rest)
            aside += bool(rest)
            damaged += 1
        shutil.rmtree(left)
    happened = f"{aside} set aside and started again, {damaged - aside} resumed; all ended bit-identical"
    tell("here", f"unfinished work: {injection}", damaged, happened, "the progress of the cells set aside")
