"""A small GPT-2 from a random start, trained on Python's own documentation by the Trainer of transformers and watched.

python gpt2_trainer.py         # about a minute on a CPU; the record goes into runs/
"""

import argparse
from pydoc_data.topics import topics  # 700 kB of English that comes with Python

import numpy as np
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

import headway
from headway.telemetry import Schedule, Watch

LENGTH = 64


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=600)
    steps = parser.parse_args().steps

    tokens = np.frombuffer("".join(topics.values()).encode("ascii", "ignore"), np.uint8).astype(np.int64)[:300_000]
    rows = tokens[: len(tokens) // LENGTH * LENGTH].reshape(-1, LENGTH)
    training, held_out = rows[:-16], rows[-16:]

    set_seed(0)
    config = GPT2Config(
        vocab_size=128, n_positions=128, n_embd=64, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0
    )  # fmt: skip
    model = GPT2LMHeadModel(config)
    ladder = headway.ngrams(training.ravel(), orders=4, vocab=128)
    schedule = Schedule(growth=1.15, share=None)
    watch = Watch(model, probe=held_out, ladder=ladder, schedule=schedule, folder="runs", name="gpt2")

    arguments = TrainingArguments(
        output_dir="out", max_steps=steps, per_device_train_batch_size=16, learning_rate=3e-3, logging_steps=100,
        save_strategy="no", report_to=[], use_cpu=True,
    )  # fmt: skip
    data = [{"input_ids": row, "labels": row} for row in training.tolist()]
    Trainer(model, arguments, train_dataset=data, callbacks=[watch.trainer_callback()]).train()
    print(f"closest to the {watch.stage}; the record is {watch.path}")


if __name__ == "__main__":
    main()
