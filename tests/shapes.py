"""The run-time check of shapes and types that every function of Headway gets in tests."""

from beartype import BeartypeConf, beartype

# As the type checker does, take a whole number where a float is asked for.
checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
