"""Kernels for the CPU, compiled by numba when a shape first needs them and called by XLA without Python."""
