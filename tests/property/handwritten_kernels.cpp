// handwritten_kernels.cpp: prim funcs as people and other compilers schedule them, in every combination of a body and
// two kinds of loops, compile and compute what the interpreter computes.
//
// Rules of the scheduler are made for nests as operators are defined. What is here are the forms that they were not
// made for: reductions into a matrix, loops over a reduction that run in parallel, loops that run in parallel inside of
// others, axes that are quotients and remainders of loops, blocks inside of blocks, conditions on blocks, several
// results and several stores, caches, neighbours, symbolic extents. A program may be refused with a message; an
// internal error, a crash or another number is a failure.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "compiler/ops/op_table.h"
#include "tests/property/check_program.h"
#include "tests/property/isolated.h"

namespace relaxc::property {
namespace {

struct Form {
  std::string_view name;
  std::string_view params;  ///< behind "def main("
  std::string_view before;  ///< statements before the loops
  std::string_view block;   ///< inside of loops i and k, {n} and {m} iterations each
};

constexpr std::string_view kMatrices = R"(A: T.Buffer(({n}, {m}), "float32"), B: T.Buffer(({n}, {m}), "float32"))";
constexpr std::string_view kRows = R"(A: T.Buffer(({n}, {m}), "float32"), B: T.Buffer(({n},), "float32"))";
constexpr std::string_view kInts = R"(A: T.Buffer(({n}, {m}), "int32"), B: T.Buffer(({n}, {m}), "int32"))";
constexpr std::string_view kTwo =
    R"(A: T.Buffer(({n}, {m}), "float32"), B: T.Buffer(({n}, {m}), "float32"), C: T.Buffer(({n}, {m}), "float32"))";

constexpr Form kForms[] = {
    {"map", kMatrices, "", R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("SS", [i, k])
    B[vi, vk] = A[vi, vk] * T.float32(2))"},
    {"map of ints", kInts, "", R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("SS", [i, k])
    B[vi, vk] = A[vi, vk] * 2 + 1)"},
    {"reduction into a matrix", kMatrices, "", R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("SR", [i, k])
    with T.init():
        B[vi, vk] = T.float32(0)
    B[vi, vk] = B[vi, vk] + A[vi, vk])"},
    {"sum", kRows, "", R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("SR", [i, k])
    with T.init():
        B[vi] = T.float32(0)
    B[vi] = B[vi] + A[vi, vk])"},
    {"maximum", kRows, "", R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("SR", [i, k])
    with T.init():
        B[vi] = T.float32(-1000000)
    B[vi] = T.max(B[vi], A[vi, vk]))"},
    {"no sum that is known", kRows, "", R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("SR", [i, k])
    with T.init():
        B[vi] = T.float32(1)
    B[vi] = B[vi] * T.float32(0.5) + A[vi, vk] * B[vi])"},
    {"all in one sum", R"(A: T.Buffer(({n}, {m}), "float32"), B: T.Buffer((1,), "float32"))", "", R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("RR", [i, k])
    with T.init():
        B[0] = T.float32(0)
    B[0] = B[0] + A[vi, vk])"},
    {"sum of columns", R"(A: T.Buffer(({n}, {m}), "float32"), B: T.Buffer(({m},), "float32"))", "", R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("RS", [i, k])
    with T.init():
        B[vk] = T.float32(0)
    B[vk] = B[vk] + A[vi, vk])"},
    {"product",
     R"(A: T.Buffer(({n}, 9), "float32"), W: T.Buffer((9, {m}), "float32"), B: T.Buffer(({n}, {m}), "float32"))", "",
     R"(
for r in range(9):
    with T.sblock("b"):
        vi, vk, vr = T.axis.remap("SSR", [i, k, r])
        with T.init():
            B[vi, vk] = T.float32(0)
        B[vi, vk] = B[vi, vk] + A[vi, vr] * W[vr, vk])"},
    {"fused axes", R"(A: T.Buffer(({n} * {m},), "float32"), B: T.Buffer(({m}, {n}), "float32"))", "", R"(
with T.sblock("b"):
    v0 = T.axis.spatial({n} * {m}, i * {m} + k)
    B[v0 % {m}, v0 // {m}] = A[v0] + T.float32(1))"},
    {"windows of fused axes",
     R"(A: T.Buffer(({n} + 2, {m} + 2), "float32"), W: T.Buffer((3, 3), "float32"), B: T.Buffer(({n}, {m}), "float32"))",
     "",
     R"(
for r in range(9):
    with T.sblock("b"):
        v0 = T.axis.spatial({n} * {m}, i * {m} + k)
        vr = T.axis.reduce(9, r)
        with T.init():
            B[v0 // {m}, v0 % {m}] = T.float32(0)
        B[v0 // {m}, v0 % {m}] = B[v0 // {m}, v0 % {m}] + A[v0 // {m} + vr // 3, v0 % {m} + vr % 3] * W[vr // 3, vr % 3])"},
    {"condition", kMatrices, "", R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("SS", [i, k])
    T.where(vi + 1 < {n} and k < {m} - 2)
    B[vi, vk] = A[vi, vk] * T.float32(2))"},
    {"condition inside", kMatrices, "", R"(
with T.sblock("outer"):
    vi, vk = T.axis.remap("SS", [i, k])
    with T.sblock("inner"):
        T.where(vi + 1 < {n} and vk + 2 < {m})
        B[vi, vk] = A[vi, vk] * T.float32(2))"},
    {"block inside", kRows, "", R"(
with T.sblock("outer"):
    vi, vk = T.axis.remap("SR", [i, k])
    with T.init():
        B[vi] = T.float32(0)
    for j in range(4):
        with T.sblock("inner"):
            vj = T.axis.reduce(4, j)
            T.reads(B[vi], A[vi, vk])
            B[vi] = B[vi] + A[vi, vk] * T.Cast("float32", vj))"},
    {"two results", kTwo, "", R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("SS", [i, k])
    B[vi, vk] = A[vi, vk] * T.float32(2)
    C[vi, vk] = B[vi, vk] + A[vi, vk])"},
    {"two nests", kTwo, "", R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("SS", [i, k])
    B[vi, vk] = A[vi, vk] * T.float32(2)
for j in T.parallel({m}):
    with T.sblock("c"):
        vi, vj, vk = T.axis.remap("SSS", [i, j, k])
        C[vi, vj] = A[vi, vj] + T.float32(1))"},
    {"cache", kTwo, R"(
L = T.alloc_buffer(({n}, {m}), "float32", scope="local")
for p, q in T.grid({n}, {m}):
    with T.sblock("l"):
        vp, vq = T.axis.remap("SS", [p, q])
        L[vp, vq] = A[vp, vq] + T.float32(1)
        C[vp, vq] = L[vp, vq])",
     R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("SS", [i, k])
    B[vi, vk] = L[vi, vk] * L[vi, {m} - 1 - vk])"},
    {"scratch", kMatrices, R"(
L = T.alloc_buffer(({n}, {m}), "float32")
for p in T.parallel({n}):
    for q in T.vectorized({m}):
        with T.sblock("l"):
            vp, vq = T.axis.remap("SS", [p, q])
            L[vp, vq] = A[vp, vq] + T.float32(1))",
     R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("SS", [i, k])
    B[vi, vk] = L[vi, {m} - 1 - vk])"},
    {"neighbours", kMatrices, "", R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("SS", [i, k])
    B[vi, vk] = T.if_then_else(vk > 0, A[vi, vk - 1], T.float32(0)) + A[vi, vk])"},
    {"in place", R"(B: T.Buffer(({n}, {m}), "float32"))", "", R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("SS", [i, k])
    T.reads(B[vi, vk])
    B[vi, vk] = B[vi, vk] * T.float32(2) + T.float32(1))"},
    {"loops by hand", kMatrices, "", R"(
B[i, k] = A[i, k] * T.float32(3))"},
    {"sum by hand", kRows, "", R"(
if k == 0:
    B[i] = T.float32(0)
B[i] = B[i] + A[i, k])"},
    {"axes the other way round", kMatrices, "", R"(
with T.sblock("b"):
    vk = T.axis.spatial({m}, k)
    vi = T.axis.spatial({n}, i)
    B[vi, vk] = A[vi, vk] - T.float32(1))"},
    {"axis without a place in the result", kRows, "", R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("SS", [i, k])
    B[vi] = A[vi, vk])"},
    {"opaque axes", kMatrices, "", R"(
with T.sblock("b"):
    vi = T.axis.opaque({n}, i)
    vk = T.axis.opaque({m}, k)
    B[vi, vk] = A[vi, vk] * T.float32(2))"},
    {"scan", kMatrices, "", R"(
with T.sblock("b"):
    vi = T.axis.spatial({n}, i)
    vk = T.axis.scan({m}, k)
    B[vi, vk] = A[vi, vk] + T.if_then_else(vk > 0, B[vi, vk - 1], T.float32(0)))"},
    {"look-up",
     R"(A: T.Buffer(({n}, {m}), "float32"), I: T.Buffer(({m},), "int32"), B: T.Buffer(({n}, {m}), "float32"))", "",
     R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("SS", [i, k])
    B[vi, vk] = A[vi, T.max(0, T.min(I[vk], {m} - 1))])"},
    {"init without a sum", kMatrices, "", R"(
with T.sblock("b"):
    vi, vk = T.axis.remap("SS", [i, k])
    with T.init():
        B[vi, vk] = T.float32(1)
    B[vi, vk] = B[vi, vk] + A[vi, vk])"},
    {"annotations", kMatrices, "", R"(
for u in T.serial(2, annotations={"unroll_hint": 1}):
    with T.sblock("b"):
        vi, vk, vu = T.axis.remap("SSR", [i, k, u])
        T.sblock_attr({"meta": 1})
        with T.init():
            B[vi, vk] = T.float32(0)
        B[vi, vk] = B[vi, vk] + A[vi, vk])"},
    {"start of an axis", kMatrices, "", R"(
with T.sblock("b"):
    vi = T.axis.spatial((0, {n}), i)
    vk = T.axis.spatial((1, {m} + 1), k + 1)
    B[vi, vk - 1] = A[vi, vk - 1] * T.float32(2))"},
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string indented(std::string_view text, size_t columns) {
  return replaced(std::string(text), "\n", "\n" + std::string(columns, ' '));
}

std::string program(const Form& form, std::string_view outer, std::string_view inner, const std::string& n,
                    const std::string& m) {
  std::string text =
      fmt::format("@T.prim_func(s_tir=True)\ndef main({}):{}\n    for i in {}({{n}}):\n        for k in {}({{m}}):{}\n",
                  form.params, indented(form.before, 4), outer, inner, indented(form.block, 12));
  return replaced(replaced(text, "{n}", n), "{m}", m);
}

class Session {
 public:
  void check(const std::string& title, const std::string& text) {
    constexpr unsigned kSeconds = 60;
    constexpr size_t kMegabytes = 4096;
    Checks checks;
    checks.prefixes = false;
    Ended ended = run_isolated(
        [&] {
          Finding found = check_program(text, {}, ops_, 1, checks);
          return fmt::format("{}{}: {}", static_cast<int>(found.kind), found.where, found.what);
        },
        kSeconds, kMegabytes);
    const bool well = ended.how == Ended::kWell && !ended.output.empty();
    const int kind = well ? ended.output[0] - '0' : static_cast<int>(Finding::kFails);
    ++counts_[kind];
    if (kind != Finding::kHolds)
      fmt::print("==== {}: {}\n{}\n", title, well ? ended.output.substr(1) : "a crash, or more than 60 s", text);
    std::fflush(stdout);
  }

  int end() const {
    fmt::print("{} kernels hold, {} were refused, {} fail\n", counts_[0], counts_[1], counts_[2]);
    return counts_[2] == 0 && counts_[0] > 9 * counts_[1] ? 0 : 1;
  }

 private:
  relax::OpTable ops_ = ops::op_table();
  size_t counts_[3] = {};
};

int run() {
  Session session;
  for (const Form& form : kForms) {
    for (std::string_view outer : {"range", "T.parallel", "T.unroll", "T.vectorized"})
      for (std::string_view inner : {"range", "T.parallel", "T.unroll", "T.vectorized"})
        session.check(fmt::format("{} in {} of {}", form.name, outer, inner), program(form, outer, inner, "6", "16"));
    session.check(fmt::format("{}, of odd extents", form.name), program(form, "range", "range", "13", "7"));
    session.check(fmt::format("{}, large enough for tasks", form.name), program(form, "range", "range", "160", "130"));
  }
  return session.end();
}

}  // namespace
}  // namespace relaxc::property

int main() {
  return relaxc::property::run();
}
