"""Records <-> disk: one folder per cell, named by the hash of its settings, whole or not at all.

    store = Store(Path("runs"))
    with store.open(cell) as work:          # waits while another process computes this cell
        if work.record is None:
            resumed = work.resume()         # where a killed process stopped, or zero
            ...
            work.save(part, checkpoint, position)
            work.finish(facts, provenance(device, seconds))

    load("runs/markov-0123456789abcdef").trajectory["excess_loss"]

What lies on disk:

    runs/
    ├── markov-0123456789abcdef/            whole; never written again
    │   ├── record.json                     the cell, its provenance, checksums of the other files
    │   ├── trajectory.safetensors          arrays/..., clocks/..., facts/...
    │   ├── weights.safetensors             the last models
    │   ├── weights-00000120.safetensors    models of an earlier step  \\
    │   └── state.safetensors               to train on from the end   / only if it was asked to keep them
    ├── markov-0123456789abcdef.partial/    unfinished: parts, and the checkpoint that names them
    ├── markov-0123456789abcdef.lock        held by the process that computes the cell
    ├── markov-0123456789abcdef.alive       touched by that process every few seconds, with its host and number
    ├── markov-0123456789abcdef.failed.json what error ended the work on it, until somebody works on it again
    ├── sweep-0123456789abcdef.plan         the cells that a living process is going to compute
    └── markov-0123456789abcdef.damaged-1/  unfinished work that could not be read, set aside

Loading runs no code: arrays are safetensors, everything else is JSON.
"""

from headway.store.cells import Store
from headway.store.errors import Busy, StoreError
from headway.store.origin import provenance
from headway.store.record import Record, load
from headway.store.status import Entry
from headway.store.work import Resumed, Work

__all__ = ["Busy", "Entry", "Record", "Resumed", "Store", "StoreError", "Work", "load", "provenance"]
