"""What a person must mend before a watched run means anything."""


class TelemetryError(ValueError):
    """Says what was got, what was wanted and what to do; everything else that fails in a probe is only logged."""
