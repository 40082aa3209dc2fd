// kernel_graph.h: `--report=FILE.onnx`: the graph of what runs, for viewers of ONNX models.
#pragma once

#include <string>

#include "compiler/api/report/performance_report.h"

namespace relaxc::api {

/// Returns an ONNX model whose nodes are the kernels of the program, with their estimates and schedules as attributes.
/// What a kernel computes is its function: the operators of the program as it was read. The model has no weights and is
/// for looking at. docs/report.md documents the attributes.
std::string kernel_graph_onnx(const PerformanceReport& report);

}  // namespace relaxc::api
