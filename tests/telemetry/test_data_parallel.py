"""Two processes that train together: the first alone measures, and both end with the bits of an unwatched run."""

import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.telemetry.models import LENGTH, made, rows  # noqa: E402

import headway  # noqa: E402
from headway.telemetry import Schedule, Watch  # noqa: E402

STEPS = 4


def train(rank, folder, watched):
    """What each process does; its weights go into a file."""
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meet-{watched}", rank=rank, world_size=2
    )  # fmt: skip
    model = torch.nn.parallel.DistributedDataParallel(made(dropout=0.1))
    watch = Watch(model, rows(), folder=f"{folder}/runs", schedule=Schedule(growth=None, every=2, share=None))
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    data = torch.from_numpy(rows(16, LENGTH + 1, seed=rank))
    torch.manual_seed(rank)
    for step in range(STEPS):
        if watched:
            watch.step(step)
        model(data[:, :-1], data[:, 1:]).backward()
        optimiser.step()
        optimiser.zero_grad()
    if watched:
        watch.finish(STEPS)
        assert (watch.path is None) == (rank == 1) and watch.failures == []
    flat = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    np.save(f"{folder}/weights-{watched}-{rank}.npy", flat.numpy())
    torch.distributed.destroy_process_group()


@pytest.mark.skipif(sys.platform != "linux", reason="gloo's processes meet at a file")
def test_only_the_first_process_measures_and_nothing_changes(tmp_path):
    for watched in (False, True):
        torch.multiprocessing.spawn(train, (str(tmp_path), watched), nprocs=2)
    for rank in (0, 1):
        ends = [np.load(tmp_path / f"weights-{watched}-{rank}.npy") for watched in (False, True)]
        assert np.array_equal(*ends)
    [path] = [each.parent for each in tmp_path.glob("runs/*/record.json")]
    assert headway.load(path).trajectory.times("loss").tolist() == [0, 2, 4]
