"""The Trainers of transformers and Lightning: the same bits with a callback, and the steps of the optimiser."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.telemetry.models import LENGTH, VOCAB, made, rows  # noqa: E402

import headway  # noqa: E402
from headway.telemetry import Schedule, Watch  # noqa: E402
from headway.telemetry.reading import Reader  # noqa: E402

EVERY = Schedule(growth=None, every=2, share=None)
SMALL = {
    "vocab_size": VOCAB,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 128,
}
GROUPED = SMALL | {"num_key_value_heads": 2}


def gpt2(dropout=0.0):
    torch.manual_seed(0)
    drops = dict.fromkeys(("attn_pdrop", "embd_pdrop", "resid_pdrop"), dropout)
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 128, "vocab_size": VOCAB}
    config = transformers.GPT2Config(**sizes, **drops, bos_token_id=0, eos_token_id=0)
    return transformers.GPT2LMHeadModel(config)


def family(name):
    torch.manual_seed(0)
    if name == "GPT2":
        return gpt2()
    more = {"Qwen3": GROUPED | {"head_dim": 8}, "GPTNeoX": SMALL}.get(name, GROUPED)
    return getattr(transformers, f"{name}ForCausalLM")(getattr(transformers, f"{name}Config")(**more))


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize("name", ["GPT2", "Llama", "GPTNeoX", "Qwen2", "Qwen3"])
def test_attention_and_logits_are_those_of_transformers_own_eager_attention(name, implementation):
    model = family(name)
    model.set_attn_implementation(implementation)
    found = Reader(rows(), 10, (2, LENGTH - 1)).read(model)
    assert model.config._attn_implementation == implementation and model.training
    assert found.found == "2 layers x 4 heads, by an attention function of transformers"
    assert np.isfinite(found.scores["copying"]).all()
    model.set_attn_implementation("eager")
    tokens = torch.from_numpy(rows())
    with torch.no_grad():
        output = model.eval()(tokens, output_attentions=True)
    attention = torch.stack(output.attentions).double().numpy()  # (layer, batch, head, query, key)
    for lag in range(10):
        diagonal = np.diagonal(attention, -lag, 3, 4)[..., 1:]  # without the first token as a key
        wanted = diagonal.sum(-1).mean(1) / (LENGTH - 1)
        np.testing.assert_allclose(found.by_lag[..., lag], wanted, atol=1e-6)
    losses = torch.nn.functional.cross_entropy(output.logits[:, :-1].transpose(1, 2), tokens[:, 1:])
    assert found.loss == pytest.approx(float(losses), rel=1e-5)


@pytest.mark.parametrize(
    "options", [{}, {"bf16": True}, {"gradient_accumulation_steps": 2}], ids=["float32", "bf16", "accumulated"]
)
def test_the_trainer_ends_with_the_same_bits(options, tmp_path):
    data = [{"input_ids": row, "labels": row} for row in rows(32, seed=3).tolist()]
    grams = headway.ngrams(rows(20).ravel(), 2, vocab=VOCAB)
    ends = []
    for watched in (False, True):
        model = gpt2(dropout=0.2)
        watch = Watch(model, rows(), ladder=grams, folder=tmp_path / "runs", schedule=EVERY)
        arguments = transformers.TrainingArguments(
            output_dir=tmp_path / "out", max_steps=5, per_device_train_batch_size=4, logging_steps=1, seed=1,
            report_to=[], save_strategy="no", use_cpu=True, disable_tqdm=True, **options,
        )  # fmt: skip
        callbacks = [watch.trainer_callback()] if watched else []
        trainer = transformers.Trainer(model, arguments, train_dataset=data, callbacks=callbacks)
        trainer.train()
        losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
        ends.append((losses, [parameter.detach().numpy() for parameter in model.parameters()]))
    (losses, weights), (others, more) = ends
    assert losses == others and all(np.array_equal(a, b) for a, b in zip(weights, more, strict=True))
    record = headway.load(watch.path)
    assert watch.failures == [] and record.trajectory.times("loss").tolist() == [0, 2, 4, 5]
    assert record.provenance["versions"]["transformers"] == transformers.__version__


def test_lightning_ends_with_the_same_bits_and_counts_optimiser_steps(tmp_path):
    lightning = pytest.importorskip("lightning")

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.inner = made(dropout=0.2)

        def training_step(self, batch, _):
            return self.inner(batch[:, :-1], batch[:, 1:])

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-2)

    ends = []
    for watched in (False, True):
        lightning.seed_everything(2)
        module = Module()
        watch = Watch(module.inner, rows(), folder=tmp_path / "runs", schedule=EVERY)
        trainer = lightning.Trainer(
            max_steps=5, accumulate_grad_batches=2, accelerator="cpu", logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False, default_root_dir=tmp_path,
            callbacks=[watch.lightning_callback()] if watched else [],
        )  # fmt: skip
        batches = torch.utils.data.DataLoader(
            torch.from_numpy(rows(64, LENGTH + 1, seed=4)), batch_size=4, shuffle=True
        )
        trainer.fit(module, batches)
        ends.append([parameter.detach().numpy() for parameter in module.parameters()])
    assert all(np.array_equal(a, b) for a, b in zip(*ends, strict=True))
    assert watch.failures == [] and headway.load(watch.path).trajectory.times("loss").tolist() == [0, 2, 4, 5]
