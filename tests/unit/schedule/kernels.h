// kernels.h: kernels as the definitions of operators and fusion leave them, for tests and measurements.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "compiler/arith/simplify.h"
#include "compiler/tir/builder.h"
#include "targets/target.h"

namespace relaxc::testing {

using arith::Expr;
using arith::Var;
using tir::BufferRef;
using tir::Indices;
using tir::PrimFunc;
using tir::Stmt;

/// AVX-512, as far as rules ask.
inline Target wide_target() {
  Target target;
  target.vector_bits = 512, target.vector_registers = 32, target.has_fma = true;
  return target;
}
/// SSE2.
inline Target narrow_target() {
  Target target;
  target.vector_bits = 128, target.vector_registers = 16;
  return target;
}

/// Writes one kernel: parameters, temporaries and nests in order.
class KernelWriter {
 public:
  explicit KernelWriter(arith::Context& context) : b(context) {}

  BufferRef param(std::string name, std::vector<Expr> shape, DType dtype = DType::f(32)) {
    BufferRef buffer = b.buffer(std::move(name), dtype, std::move(shape));
    function_.params.push_back({buffer, {}});
    return buffer;
  }
  BufferRef temporary(std::string name, std::vector<Expr> shape, DType dtype = DType::f(32)) {
    temporaries_.push_back(b.buffer(std::move(name), dtype, std::move(shape)));
    return temporaries_.back();
  }
  void add(Stmt s) { body_.push_back(s); }
  PrimFunc finish(std::string name) {
    function_.name = std::move(name);
    function_.body = b.seq(body_);
    for (size_t i = temporaries_.size(); i-- > 0;) function_.body = b.alloc(temporaries_[i], function_.body);
    tir::collect_symbols(function_);
    return function_;
  }
  Expr zero() { return b.context().imm_float(DType::f(32), 0); }

  tir::Builder b;

 private:
  PrimFunc function_;
  std::vector<BufferRef> temporaries_;
  std::vector<Stmt> body_;
};

/// out[i, j] = sum of x[i, k] * weight[k, j] in a wider dtype.
inline PrimFunc wide_matmul(arith::Context& context, Expr m, Expr n, Expr k, DType of_x, DType of_weight, DType wide) {
  KernelWriter w(context);
  tir::Builder& b = w.b;
  BufferRef x = w.param("x", {m, k}, of_x), weight = w.param("weight", {k, n}, of_weight);
  BufferRef y = w.param("y", {m, n}, wide);
  w.add(b.reduce(y, {k}, context.zero(wide), [&](Expr sum, const Indices& i, const Indices& r) {
    return sum + arith::cast(wide, b.load(x, {i[0], r[0]})) * arith::cast(wide, b.load(weight, {r[0], i[1]}));
  }));
  return w.finish("wide_matmul");
}

/// The same in int32, of uint8 by int8.
inline PrimFunc matmul_of_bytes(arith::Context& context, Expr m, Expr n, Expr k) {
  return wide_matmul(context, m, n, k, DType::u(8), DType::i(8), DType::i(32));
}

/// Windows of `kernel` x `kernel` over x [1, h, w, c], which has its padding, by [kernel, kernel, c, out]; or,
/// depthwise, by [kernel, kernel, 1, c].
inline PrimFunc conv_of_bytes(arith::Context& context, int64_t c, int64_t h, int64_t out, int64_t kernel,
                              int64_t stride, bool depthwise) {
  KernelWriter writer(context);
  tir::Builder& b = writer.b;
  DType i32 = DType::i(32);
  auto index = [&](int64_t v) { return context.index(v); };
  int64_t side = (h - kernel) / stride + 1;
  BufferRef x = writer.param("x", {index(1), index(h), index(h), index(c)}, DType::u(8));
  BufferRef weight =
      writer.param("weight", {index(kernel), index(kernel), index(depthwise ? 1 : c), index(out)}, DType::i(8));
  BufferRef y = writer.param("y", {index(1), index(side), index(side), index(out)}, i32);
  std::vector<Expr> reduced{index(kernel), index(kernel)};
  if (!depthwise) reduced.push_back(index(c));
  writer.add(b.reduce(y, reduced, context.zero(i32), [&](Expr sum, const Indices& i, const Indices& r) {
    Expr channel = depthwise ? i[3] : r[2];
    Expr data = b.load(x, {i[0], i[1] * stride + r[0], i[2] * stride + r[1], channel});
    Expr by = b.load(weight, {r[0], r[1], depthwise ? index(0) : r[2], i[3]});
    return sum + arith::cast(i32, data) * arith::cast(i32, by);
  }));
  return writer.finish("conv_of_bytes");
}

/// out[…, i, j] = sum of a[…, i, k] * b[k, j] (b[j, k] if transposed); with bias and relu behind it if `epilogue`.
inline PrimFunc matmul(arith::Context& context, std::vector<Expr> batch, Expr m, Expr n, Expr k, bool transposed,
                       bool epilogue) {
  KernelWriter w(context);
  tir::Builder& b = w.b;
  std::vector<Expr> rows = batch, out = batch;
  rows.push_back(m), rows.push_back(k), out.push_back(m), out.push_back(n);
  BufferRef x = w.param("x", rows), weight = w.param("weight", transposed ? Indices{n, k} : Indices{k, n});
  BufferRef bias = w.param("bias", {n}), y = w.param("y", out);
  BufferRef product = epilogue ? w.temporary("product", out) : y;
  w.add(b.reduce(product, {k}, w.zero(), [&](Expr sum, const Indices& i, const Indices& r) {
    Indices at(i.begin(), i.end() - 1);
    at.push_back(r[0]);
    Indices of_weight{r[0], i.back()};
    if (transposed) std::swap(of_weight[0], of_weight[1]);
    return sum + b.load(x, at) * b.load(weight, of_weight);
  }));
  if (epilogue)
    w.add(b.compute(
        y, [&](const Indices& i) { return arith::max(b.load(product, i) + b.load(bias, {i.back()}), w.zero()); }));
  return w.finish("matmul");
}

struct ConvShape {
  int64_t n = 1, c = 3, h = 8, w = 8, out = 4, kernel = 3, stride = 1, pad = 1, groups = 1, dilation = 1;
  bool open_rows = false, open_columns = false;  ///< symbols h and w in place of the two numbers
};

inline PrimFunc conv(arith::Context& context, const ConvShape& g, bool epilogue) {
  KernelWriter w(context);
  tir::Builder& b = w.b;
  auto index = [&](int64_t v) { return b.index(v); };
  auto count = [&](Expr dim) {
    const int64_t size = g.dilation * (g.kernel - 1) + 1;
    return arith::simplify(arith::max(index(0), arith::floordiv(dim + 2 * g.pad - size, g.stride) + 1));
  };
  Expr height = g.open_rows ? context.var("h") : index(g.h), width = g.open_columns ? context.var("w") : index(g.w);
  BufferRef x = w.param("x", {index(g.n), index(g.c), height, width});
  BufferRef weight = w.param("weight", {index(g.out), index(g.c / g.groups), index(g.kernel), index(g.kernel)});
  std::vector<Expr> shape{index(g.n), index(g.out), count(height), count(width)};
  BufferRef bias = w.param("bias", {index(g.out)}), y = w.param("y", shape);
  BufferRef sum = epilogue ? w.temporary("sum", shape) : y;
  w.add(b.reduce(sum, {index(g.c / g.groups), index(g.kernel), index(g.kernel)}, w.zero(),
                 [&](Expr acc, const Indices& i, const Indices& r) {
                   Expr channel = r[0];
                   if (g.groups > 1) channel = arith::floordiv(i[1], g.out / g.groups) * (g.c / g.groups) + r[0];
                   Indices at{i[0], channel};
                   Expr inside;
                   for (size_t d = 0; d < 2; ++d) {
                     Expr dim = x->shape[d + 2], p = i[d + 2] * g.stride + r[d + 1] * g.dilation - g.pad, clamped = p;
                     if (g.pad > 0) {
                       Expr here = arith::logical_and(arith::le(index(0), p), arith::lt(p, dim));
                       inside = inside ? arith::logical_and(inside, here) : here;
                       clamped = arith::min(arith::max(index(0), p), dim - 1);
                     }
                     at.push_back(clamped);
                   }
                   Expr value = b.load(x, at);
                   if (inside) value = arith::select(inside, value, w.zero());
                   return acc + value * b.load(weight, {i[1], r[0], r[1], r[2]});
                 }));
  if (epilogue)
    w.add(b.compute(y, [&](const Indices& i) { return arith::max(b.load(sum, i) + b.load(bias, {i[1]}), w.zero()); }));
  return w.finish("conv");
}

struct PoolShape {
  int64_t c = 3, h = 12, w = 12, kernel = 2, stride = 2, pad = 0, dilation = 1;
  bool open_rows = false, open_columns = false;  ///< symbols h and w in place of the numbers
};
/// How many windows there are along a dim.
inline int64_t windows(const PoolShape& g, int64_t dim) {
  return (dim + 2 * g.pad - g.dilation * (g.kernel - 1) - 1) / g.stride + 1;
}
inline Expr windows(const PoolShape& g, Expr dim) {
  return arith::simplify(arith::floordiv(dim + (2 * g.pad - g.dilation * (g.kernel - 1) - 1), g.stride) + 1);
}

/// Sums or maxima of the windows of x into y.
inline void add_pool(KernelWriter& writer, BufferRef x, BufferRef y, const PoolShape& g, bool sums) {
  arith::Context& context = x->shape[0].context();
  tir::Builder& b = writer.b;
  auto index = [&](int64_t v) { return b.index(v); };
  Expr outside = sums ? writer.zero() : context.imm_float(DType::f(32), -std::numeric_limits<double>::infinity());
  writer.add(
      b.reduce(y, {index(g.kernel), index(g.kernel)}, outside, [&](Expr own, const Indices& i, const Indices& r) {
        Indices at{i[0], i[1]};
        Expr inside;
        for (size_t d = 0; d < 2; ++d) {
          Expr dim = x->shape[d + 2], p = i[d + 2] * g.stride + r[d] * g.dilation - g.pad;
          Expr here = arith::logical_and(arith::le(index(0), p), arith::lt(p, dim));
          inside = inside ? arith::logical_and(inside, here) : here;
          at.push_back(g.pad > 0 ? arith::min(arith::max(index(0), p), dim - 1) : p);
        }
        Expr value = b.load(x, at);
        if (g.pad > 0) value = arith::select(inside, value, outside);
        return sums ? own + value : arith::max(own, value);
      }));
}

/// Sums, or maxima, of windows of x [n, c, h, w]; halved behind it if `epilogue`.
inline PrimFunc pool(arith::Context& context, Expr n, const PoolShape& g, bool sums, bool epilogue) {
  KernelWriter writer(context);
  tir::Builder& b = writer.b;
  auto index = [&](int64_t v) { return b.index(v); };
  Expr h = g.open_rows ? context.var("h") : index(g.h), wide = g.open_columns ? context.var("w") : index(g.w);
  BufferRef x = writer.param("x", {n, index(g.c), h, wide});
  std::vector<Expr> shape{n, index(g.c), windows(g, h), windows(g, wide)};
  BufferRef y = writer.param("y", shape), whole = epilogue ? writer.temporary("whole", shape) : y;
  add_pool(writer, x, whole, g, sums);
  if (epilogue)
    writer.add(b.compute(y, [&](const Indices& i) { return b.load(whole, i) * context.imm_float(DType::f(32), 0.5); }));
  return writer.finish("pool");
}

/// The same of a map that a 3x3 convolution makes of two channels, less 1.
inline PrimFunc pool_of_map(arith::Context& context, Expr n, const PoolShape& g, bool sums) {
  KernelWriter writer(context);
  tir::Builder& b = writer.b;
  auto index = [&](int64_t v) { return b.index(v); };
  BufferRef x = writer.param("x", {n, index(2), index(g.h + 2), index(g.w + 2)});
  BufferRef weight = writer.param("weight", {index(g.c), index(2), index(3), index(3)});
  BufferRef y = writer.param("y", {n, index(g.c), index(windows(g, g.h)), index(windows(g, g.w))});
  std::vector<Expr> shape{n, index(g.c), index(g.h), index(g.w)};
  BufferRef map = writer.temporary("map", shape), less = writer.temporary("less", shape);
  writer.add(
      b.reduce(map, {index(2), index(3), index(3)}, writer.zero(), [&](Expr own, const Indices& i, const Indices& r) {
        return own + b.load(x, {i[0], r[0], i[2] + r[1], i[3] + r[2]}) * b.load(weight, {i[1], r[0], r[1], r[2]});
      }));
  writer.add(b.compute(less, [&](const Indices& i) { return b.load(map, i) - context.imm_float(DType::f(32), 1); }));
  add_pool(writer, less, y, g, sums);
  return writer.finish("pool_of_map");
}

/// Sums and shifts rows: y = x - max(x) along the last axis, and the row sums of that into s.
inline PrimFunc rows(arith::Context& context, Expr n, Expr k) {
  KernelWriter w(context);
  tir::Builder& b = w.b;
  BufferRef x = w.param("x", {n, k}), y = w.param("y", {n, k}), s = w.param("s", {n, b.index(1)});
  BufferRef top = w.temporary("top", {n, b.index(1)});
  Expr least = context.imm_float(DType::f(32), -1e30);
  w.add(b.reduce(top, {k}, least, [&](Expr a, const Indices& i, const Indices& r) {
    return arith::max(a, b.load(x, {i[0], r[0]}));
  }));
  w.add(b.compute(y, [&](const Indices& i) { return b.load(x, i) - b.load(top, {i[0], b.index(0)}); }));
  w.add(b.reduce(s, {k}, w.zero(), [&](Expr a, const Indices& i, const Indices& r) {
    return a + b.load(y, {i[0], r[0]});
  }));
  return w.finish("rows");
}

/// Rows between two products, as in attention: scores = q k + bias, less the row's maximum, y = (scores - sum of them)
/// v.
inline PrimFunc rows_between_products(arith::Context& context, std::vector<Expr> batch, Expr queries, Expr keys,
                                      int64_t width, bool epilogue) {
  KernelWriter w(context);
  tir::Builder& b = w.b;
  auto of = [&](std::vector<Expr> last) {
    last.insert(last.begin(), batch.begin(), batch.end());
    return last;
  };
  Expr wide = b.index(width), one = b.index(1);
  BufferRef q = w.param("q", of({queries, wide})), k = w.param("k", of({wide, keys}));
  BufferRef v = w.param("v", of({keys, wide})), bias = w.param("bias", {queries, keys});
  BufferRef y = w.param("y", of({queries, wide}));
  BufferRef scores = w.temporary("scores", of({queries, keys})), top = w.temporary("top", of({queries, one}));
  BufferRef less = w.temporary("less", of({queries, keys})), sum = w.temporary("sum", of({queries, one}));
  BufferRef product = epilogue ? w.temporary("product", of({queries, wide})) : y;
  size_t row = batch.size();
  auto with = [](Indices i, size_t at, Expr index) {
    i[at] = index;
    return i;
  };
  auto times = [&](BufferRef x, BufferRef by) {
    return [&w, x, by, row, with](Expr acc, const Indices& i, const Indices& r) {
      return acc + w.b.load(x, with(i, row + 1, r[0])) * w.b.load(by, with(i, row, r[0]));
    };
  };
  w.add(b.reduce(scores, {wide}, w.zero(), times(q, k)));
  BufferRef biased = w.temporary("biased", of({queries, keys}));
  w.add(b.compute(biased, [&](const Indices& i) { return b.load(scores, i) + b.load(bias, {i[row], i[row + 1]}); }));
  w.add(b.reduce(top, {keys}, context.imm_float(DType::f(32), -1e30), [&](Expr a, const Indices& i, const Indices& r) {
    return arith::max(a, b.load(biased, with(i, row + 1, r[0])));
  }));
  w.add(
      b.compute(less, [&](const Indices& i) { return b.load(biased, i) - b.load(top, with(i, row + 1, b.index(0))); }));
  w.add(b.reduce(sum, {keys}, w.zero(),
                 [&](Expr a, const Indices& i, const Indices& r) { return a + b.load(less, with(i, row + 1, r[0])); }));
  BufferRef weights = w.temporary("weights", of({queries, keys}));
  w.add(b.compute(weights,
                  [&](const Indices& i) { return b.load(less, i) - b.load(sum, with(i, row + 1, b.index(0))); }));
  w.add(b.reduce(product, {keys}, w.zero(), times(weights, v)));
  if (epilogue) w.add(b.compute(y, [&](const Indices& i) { return b.load(product, i) + b.load(q, i); }));
  return w.finish("rows_between_products");
}

constexpr int64_t kHeadWidth = 16;  ///< of what attention multiplies

/// y = softmax(q k + bias) v, as definitions and fusion leave it; `zeros`: 0 in rows of -inf.
inline PrimFunc attention(arith::Context& context, Expr heads, Expr queries, Expr keys, bool zeros = false) {
  KernelWriter w(context);
  tir::Builder& b = w.b;
  const Expr wide = b.index(kHeadWidth), one = b.index(1);
  BufferRef q = w.param("q", {heads, queries, wide}), k = w.param("k", {heads, wide, keys});
  BufferRef v = w.param("v", {heads, keys, wide}), bias = w.param("bias", {queries, keys});
  BufferRef y = w.param("y", {heads, queries, wide});
  BufferRef scores = w.temporary("scores", {heads, queries, keys}), top = w.temporary("top", {heads, queries, one});
  BufferRef powers = w.temporary("powers", {heads, queries, keys}), sum = w.temporary("sum", {heads, queries, one});
  auto biased = [&](const Indices& i) { return b.load(scores, i) + b.load(bias, {i[1], i[2]}); };
  auto of_row = [&](BufferRef row, const Indices& i) { return b.load(row, {i[0], i[1], b.index(0)}); };
  w.add(b.reduce(scores, {wide}, w.zero(), [&](Expr a, const Indices& i, const Indices& r) {
    return a + b.load(q, {i[0], i[1], r[0]}) * b.load(k, {i[0], r[0], i[2]});
  }));
  const Expr lowest = context.imm_float(DType::f(32), -std::numeric_limits<double>::infinity());
  w.add(b.reduce(top, {keys}, lowest, [&](Expr a, const Indices& i, const Indices& r) {
    return arith::max(a, biased({i[0], i[1], r[0]}));
  }));
  w.add(
      b.compute(powers, [&](const Indices& i) { return call(arith::Intrinsic::k_exp, {biased(i) - of_row(top, i)}); }));
  w.add(b.reduce(sum, {keys}, w.zero(), [&](Expr a, const Indices& i, const Indices& r) {
    return a + b.load(powers, {i[0], i[1], r[0]});
  }));
  w.add(b.compute(powers, [&](const Indices& i) {
    const Expr weight = b.load(powers, i) * (context.imm_float(DType::f(32), 1) / of_row(sum, i));
    return zeros ? arith::select(arith::eq(of_row(top, i), lowest), w.zero(), weight) : weight;
  }));
  w.add(b.reduce(y, {keys}, w.zero(), [&](Expr a, const Indices& i, const Indices& r) {
    return a + b.load(powers, {i[0], i[1], r[0]}) * b.load(v, {i[0], r[0], i[2]});
  }));
  return w.finish("attention");
}

/// y = relu(x + bias[c]) over [n, c, h, w], and z = x transposed to [h, w, n, c].
inline PrimFunc spatial(arith::Context& context, Expr n, Expr c, Expr h, Expr wide) {
  KernelWriter w(context);
  tir::Builder& b = w.b;
  BufferRef x = w.param("x", {n, c, h, wide}), bias = w.param("bias", {c}), y = w.param("y", {n, c, h, wide});
  BufferRef z = w.param("z", {h, wide, n, c}), q = w.param("q", {n, c, h, wide});
  w.add(b.compute(y, [&](const Indices& i) { return arith::max(b.load(x, i) + b.load(bias, {i[1]}), w.zero()); }));
  w.add(b.compute(z, [&](const Indices& i) { return b.load(x, {i[2], i[3], i[0], i[1]}); }));
  w.add(b.compute(q, [&](const Indices& i) { return b.load(y, i) * b.load(x, i); }));
  return w.finish("spatial");
}

}  // namespace relaxc::testing
