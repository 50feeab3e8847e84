"""Kernels in CUDA C for NVIDIA GPUs; `usable` says whether this machine can run them."""

from headway.kernels.cuda.launch import usable

__all__ = ["usable"]
