"""A transformer in TransformerLens, versions 2 to 4; its weights lie beside this file, under TransformerLens's names.

from NAME import load

model = load()
logits, cache = model.run_with_cache(tokens)

Where the scores are not divided by the square root of a head's width, `W_Q` is that much larger: not every version of
TransformerLens can leave the division out.
"""

from pathlib import Path

import torch
from safetensors.torch import load_file

CONFIG = {}  # filled in


def load(path=None):
    """A TransformerBridge of TransformerLens 4, or a HookedTransformer of the versions before."""
    weights = load_file(path or Path(__file__).with_suffix(".safetensors"))
    try:
        from transformer_lens import HookedTransformer, HookedTransformerConfig
    except ImportError:
        return _bridge(weights)
    model = HookedTransformer(HookedTransformerConfig(**CONFIG, device="cpu"))
    # What is left over are its masks.
    model.load_state_dict(weights, strict=False)
    return model.eval()


def _bridge(weights):
    from transformer_lens.config import TransformerBridgeConfig
    from transformer_lens.model_bridge.sources.native import boot
    from transformer_lens.utilities.tl_checkpoint_conversion import convert_tl_checkpoint

    config = TransformerBridgeConfig(**CONFIG, architecture="TransformerLensNative", init_weights=False)
    model = boot(config, dtype=weights["embed.W_E"].dtype)
    converted = convert_tl_checkpoint(weights, config)
    converted.setdefault("unembed.bias", torch.zeros(config.d_vocab_out))
    model.load_state_dict(converted, strict=True)
    return model.eval()
