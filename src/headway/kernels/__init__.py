"""Fast forms of a batch's loss, gradient and reading; `form_of` chooses, and nothing outside knows which there are.

`mixer_of` has kernels for the heads of a model without a form of its own.
"""

from headway.kernels.choose import Form, Read, form_of
from headway.kernels.mixers import mixer_of

__all__ = ["Form", "Read", "form_of", "mixer_of"]
