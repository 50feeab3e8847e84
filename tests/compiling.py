"""Flags with which XLA compiles fast: most programs of a test are run once, and compiling takes longer than running."""

from importlib.metadata import version

FLAGS = ["--xla_backend_optimization_level=0", "--xla_llvm_disable_expensive_passes=true"]
# From 0.12 on there is no such flag, and one that is not known ends the process.
if tuple(map(int, version("jaxlib").split(".")[:2])) < (0, 12):
    FLAGS.append("--xla_cpu_use_fusion_emitters=false")
