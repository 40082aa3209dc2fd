"""Writes peaks.onnx: a signal is smoothed by an operator that no framework knows, doubled, and its peaks are found.

Run once, with onnx installed; the model is beside this file.
"""
from onnx import TensorProto, checker, helper, save

signal = helper.make_tensor_value_info("signal", TensorProto.FLOAT, ["n"])
strong = helper.make_tensor_value_info("strong", TensorProto.FLOAT, ["n"])
peaks = helper.make_tensor_value_info("peaks", TensorProto.INT64, ["count"])
nodes = [
    helper.make_node("Smooth", ["signal"], ["calm"], domain="my.dsp", radius=1),
    helper.make_node("Add", ["calm", "calm"], ["strong"]),
    helper.make_node("Peaks", ["strong"], ["peaks"], domain="my.dsp", least=1.0),
]
graph = helper.make_graph(nodes, "peaks", [signal], [strong, peaks])
model = helper.make_model(graph, ir_version=8, producer_name="relaxc example",
                          opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("my.dsp", 1)])
checker.check_model(model)
save(model, "peaks.onnx")
