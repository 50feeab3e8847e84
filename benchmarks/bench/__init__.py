"""How fast Headway trains, beside what a user would write instead, measured on the machine at hand.

command.py      `headway bench`, with its options
run.py          the parts that were asked for, one after the other
cases.py        what is measured: models, shapes, how many steps at a time; small.py: small transformers;
                forms.py: paper A's models beyond the minimal and the full one
contestant.py   somebody who can train for a few steps; headway_side.py is Headway itself
rivals/         plain PyTorch, compiled PyTorch, plain JAX
agreement.py    all of them compute the same loss and gradient, or nothing is measured
alternate.py    rival, Headway, rival, Headway, ..: a noisy machine hits both
parts/          rivals, transformers, forms, scaling, start, evaluation, reduction: each fills a record every round
alone.py        one contestant in a process of its own, for the part `start`
one_form.py     one case in a process of its own, for the part `forms`; turns.py: many prepare, each is timed alone
machine.py      what the numbers were measured on
record.py       records <-> disk
power_law.py    how cost grows along an axis
tables.py       records -> rows of words, for the screen and for the document
draw.py         records -> pictures
document.py     records -> docs/speed.md
"""

from typing import Literal, get_args

Part = Literal["rivals", "transformers", "forms", "scaling", "start", "evaluation", "reduction"]
PARTS: tuple[Part, ...] = get_args(Part)
