"""What cannot be written, in words."""


class ExportError(ValueError):
    """Something that cannot be written: what was got, what was wanted, what to do."""
