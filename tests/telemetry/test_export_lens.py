"""A model in TransformerLens says what it said in Headway."""

import numpy as np
import pytest
from tests.made_model import CASES, imported, made_model

from headway.export import ExportError
from headway.export.models import export_model

torch = pytest.importorskip("torch")
pytest.importorskip("transformer_lens")
EXPRESSIBLE = ("recall", "pre", "rotary", "one-hot", "unscaled", "no-positions", "attention-only", "biases", "unmasked")


@pytest.mark.parametrize("case", EXPRESSIBLE)
@pytest.mark.filterwarnings("ignore")  # of libraries that are not ours
def test_the_logits_and_the_attention_are_the_same(case, tmp_path):
    model, inputs = made_model(case)
    [file, _] = export_model(model, tmp_path / "lens.py", "transformerlens")
    lens = imported(file).load()
    seen = model(inputs)
    with torch.no_grad():
        logits, cache = lens.run_with_cache(torch.from_numpy(inputs))
    answers = model.reads.predicted
    np.testing.assert_allclose(logits[:, -answers:].numpy(), seen.logits, atol=1e-5, rtol=0)
    for layer, wanted in enumerate(seen.attention):
        got = cache[f"blocks.{layer}.attn.hook_pattern"].numpy()
        np.testing.assert_allclose(got, wanted, atol=1e-5)


def test_every_case_is_expressed_or_refused(tmp_path):
    for case in CASES:
        model, _ = made_model(case)
        try:
            export_model(model, tmp_path / f"{case.replace('-', '_')}.py", "transformerlens")
            expressed = True
        except ExportError:
            expressed = False
        assert expressed == (case in EXPRESSIBLE), case
