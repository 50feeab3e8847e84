"""A model in plain PyTorch says what it said in Headway."""

import sys

import numpy as np
import pytest
from tests.made_model import CASES, imported, made_model

from headway.export import ExportError
from headway.export.models import export_model
from headway.models.positions import Positions
from headway.settings import ModelSettings
from headway.settings.given import given

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("case", CASES)
def test_the_logits_and_the_attention_are_the_same(case, tmp_path):
    model, inputs = made_model(case)
    files = export_model(model, tmp_path / "model.py", "torch")
    assert [file.name for file in files] == ["model.py", "model.safetensors"]
    module = imported(files[0])
    seen = model(inputs)
    with torch.no_grad():
        logits, attention = module.load()(torch.from_numpy(inputs), attention=True)
    answers = module.SETTINGS["predicted"]
    np.testing.assert_allclose(logits[:, -answers:].numpy(), seen.logits, atol=1e-5, rtol=0)
    for got, wanted in zip(attention, seen.attention, strict=True):
        np.testing.assert_allclose(got.numpy(), wanted, atol=1e-5)


def test_the_file_needs_nothing_of_headway(tmp_path):
    model, _ = made_model("full")
    text = export_model(model, tmp_path / "model.py", "torch")[0].read_text()
    assert "headway" not in text.replace(model.record.name, "")
    assert "jax" not in text
    assert "from model import load" in text


def test_a_model_can_be_trained_on(tmp_path):
    model, inputs = made_model("recall")
    module = imported(export_model(model, tmp_path / "model.py", "torch")[0])
    trained = module.load()
    module_loss = torch.nn.functional.cross_entropy(trained(torch.from_numpy(inputs))[:, -1], torch.zeros(3).long())
    module_loss.backward()
    assert all(torch.isfinite(each.grad).all() for each in trained.parameters())


def test_positions_that_nobody_else_knows_are_refused(tmp_path):
    settings = ModelSettings(positions=given(Positions(stream=lambda _, x: x)), width=6, heads=2)
    model, _ = made_model("full", settings)
    with pytest.raises(ExportError, match=r"a custom function.*--as safetensors"):
        export_model(model, tmp_path / "model.py", "torch")
    assert [file.name for file in export_model(model, tmp_path / "bare.safetensors", "safetensors")]
    assert "torch" in sys.modules
