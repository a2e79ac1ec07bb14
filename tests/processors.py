"""How a process computes as on an old processor, without the instructions that newer ones have."""

from numpy._core import _multiarray_umath as numpy_core


def as_an_old_one() -> dict[str, str]:
    """Variables of the environment: PyTorch and NumPy read them when they are imported."""
    features = [name for name in numpy_core.__cpu_dispatch__ if numpy_core.__cpu_features__[name]]
    return {"ATEN_CPU_CAPABILITY": "default", "NPY_DISABLE_CPU_FEATURES": " ".join(features)}
