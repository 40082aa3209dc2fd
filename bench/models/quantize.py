"""quantize.py: the integer forms of a model, as onnxruntime.quantization writes them.

Each takes the model, which it leaves as it is, and samples to calibrate on: names of inputs to arrays.
"""

import copy
import tempfile
from pathlib import Path

import onnx
from onnxruntime import quantization


class Samples(quantization.CalibrationDataReader):
    def __init__(self, samples):
        self.rest = iter(samples)

    def get_next(self):
        return next(self.rest, None)


def qdq(model, samples):
    """QuantizeLinear and DequantizeLinear around every operator; weights of 8 bits with a scale a channel."""
    return through_files(lambda path, output: quantization.quantize_static(
        path, output, Samples(samples), quant_format=quantization.QuantFormat.QDQ, per_channel=True,
        activation_type=quantization.QuantType.QUInt8, weight_type=quantization.QuantType.QInt8), model)


def dynamic(model, _):
    """MatMulInteger and ConvInteger, whose activations are quantized while the model runs."""
    return through_files(lambda path, output: quantization.quantize_dynamic(
        path, output, weight_type=quantization.QuantType.QUInt8), model)


def nbits(bits):
    """Weights alone, in blocks of 32: MatMulNBits."""
    def quantize(model, _):
        from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer  # which wants onnx_ir

        quantizer = MatMulNBitsQuantizer(copy.deepcopy(model), bits=bits, block_size=32, is_symmetric=True)
        quantizer.process()
        return quantizer.model.model
    return quantize


def through_files(quantize, model):
    """The functions of onnxruntime.quantization read and write files."""
    with tempfile.TemporaryDirectory(prefix="relaxc-bench-") as folder:
        path, output = Path(folder) / "float.onnx", Path(folder) / "quantized.onnx"
        onnx.save(model, path)
        quantize(path, output)
        return onnx.load(output)


FORMS = {"qdq": qdq, "dynamic": dynamic, "int8": nbits(8), "int4": nbits(4)}
