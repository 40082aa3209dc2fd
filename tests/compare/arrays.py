"""arrays.py: what differs between an array and its reference, for the harnesses of ONNX and TFLite models."""

import numpy as np


def difference(actual, expected, *, rtol, atol, quanta=0):
    """What is wrong with an output, or an empty string.

    Floats may differ by `rtol` of the element plus `atol` of the largest magnitude of the output, which is about the
    largest term of a sum; all others by `quanta`. NaN equals NaN."""
    if actual.shape != expected.shape:
        return f"shape {actual.shape}, expected {expected.shape}"
    if actual.dtype != expected.dtype:
        return f"dtype {actual.dtype}, expected {expected.dtype}"
    if expected.size == 0:
        return ""
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    limit = np.full(e.shape, float(quanta))
    if np.issubdtype(expected.dtype, np.floating):
        finite = np.isfinite(e)
        largest = np.abs(e[finite]).max() if finite.any() else 0
        limit = rtol * np.abs(e) + atol * max(largest, 1e-3)
    with np.errstate(invalid="ignore"):
        wrong = ~((np.abs(a - e) <= limit) | (a == e) | (np.isnan(a) & np.isnan(e)))
    if not wrong.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {e.size} elements differ, first at {at}: {actual[at]}, expected {expected[at]}"
