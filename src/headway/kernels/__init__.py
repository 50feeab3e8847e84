"""Fast forms of a batch's loss, gradient and reading; `form_of` chooses, and nothing outside knows which there are."""

from headway.kernels.choose import Form, Read, form_of

__all__ = ["Form", "Read", "form_of"]
