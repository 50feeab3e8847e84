"""How fast Headway trains, beside what a user would write instead, measured on the machine at hand.

cases.py        what is measured: models, shapes, how many steps at a time
contestant.py   somebody who can train for a few steps; Headway itself is one of them
rivals/         plain PyTorch, compiled PyTorch, plain JAX
agreement.py    all of them compute the same loss and gradient, or nothing is measured
alternate.py    rival, Headway, rival, Headway, ..: a noisy machine hits both
parts/          rivals, scaling, start, evaluation, reduction: each fills a record after every round
machine.py      what the numbers were measured on
record.py       records <-> disk
tables.py       records -> rows of words, for the screen and for the document
draw.py         records -> pictures
document.py     records -> docs/speed.md
"""
