"""The table of docs/errata.md: python -m headway.theory.statements [seed]."""

import sys

from headway.theory.statements import all_checks, table

sys.stdout.write(table(all_checks(*map(int, sys.argv[1:2]))) + "\n")
