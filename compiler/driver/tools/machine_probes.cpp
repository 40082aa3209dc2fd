// machine_probes.cpp: see machine_probes.h.
//
// Probes are TIR, compiled in process by the LLVM backend, so that they use the same vectors and
// instructions as kernels. Sums are in locals, which LLVM keeps in registers; each pass accesses the same
// memory.
#include "compiler/driver/tools/machine_probes.h"

namespace relaxc::driver {
namespace {

using arith::Expr;
using arith::Var;
using tir::LoopKind;
using tir::Stmt;

constexpr int64_t kStride = 3;

class Writer {
 public:
  Writer(arith::Context& context, Probe probe, const ProbeShape& shape, int64_t lanes)
      : b_(context), probe_(probe), shape_(shape), lanes_(lanes) {
    const Expr elements = b_.index(memory_of(probe, shape, lanes));
    data_ = b_.buffer("data", kElement, {elements});
    places_ = b_.buffer("places", DType::i(32), {elements});
    out_ = b_.buffer("out", kElement, {b_.index(shape.sums), b_.index(lanes)});
    sums_ = b_.buffer("sums", kElement, {b_.index(shape.sums), b_.index(lanes)}, tir::Scope::kLocal);
  }

  tir::PrimFunc write() {
    tir::PrimFunc f;
    f.name = "probe";
    f.params = {{data_, {}}, {places_, {}}, {out_, {}}};
    const Stmt begin = vectors([&](Expr s, Var lane) { return b_.store(sums_, {s, lane}, b_.load(out_, {s, lane})); });
    const Stmt passes = b_.loop("pass", b_.index(shape_.passes), [&](Var pass) {
      return b_.loop("i", b_.index(steps()),
                     [&](Var i) { return vectors([&](Expr s, Var lane) { return step(pass, i, s, lane); }); });
    });
    const Stmt end = vectors([&](Expr s, Var lane) { return b_.store(out_, {s, lane}, b_.load(sums_, {s, lane})); });
    f.body = b_.alloc(sums_, b_.seq({begin, passes, end}));
    return f;
  }

 private:
  static constexpr DType kElement = DType::f(32);

  int64_t steps() const { return probe_ == Probe::kFma ? shape_.elements : shape_.elements / (shape_.sums * lanes_); }

  template <typename F>
  Stmt vectors(F body) {
    return b_.loop(
        "s", b_.index(shape_.sums),
        [&](Var s) {
          return b_.loop(
              "lane", b_.index(lanes_), [&](Var lane) { return body(s, lane); }, LoopKind::kVectorized);
        },
        LoopKind::kUnrolled);
  }

  Stmt step(Var pass, Var i, Expr s, Var lane) {
    const Expr own = b_.load(sums_, {s, lane}), at = (i * shape_.sums + s) * lanes_ + lane;
    const auto add = [&](Expr index) { return b_.store(sums_, {s, lane}, own + b_.load(data_, {index})); };
    switch (probe_) {
      case Probe::kFma: {
        const Expr factor = b_.load(data_, {lane}), term = b_.load(data_, {lane + lanes_});
        return b_.store(sums_, {s, lane}, arith::call(arith::Intrinsic::k_fma, {own, factor, term}));
      }
      case Probe::kLoad:
        return add(at);
      case Probe::kLoadAcross:
        return add(at + lanes_ / 2);
      case Probe::kStrided:
        return add(at * kStride);
      case Probe::kGather:
        return add(arith::cast(DType::index(), b_.load(places_, {at})));
      case Probe::kStore:
        return b_.store(data_, {at}, own + arith::cast(kElement, arith::cast(DType::i(32), pass)));
    }
    return {};
  }

  tir::Builder b_;
  Probe probe_;
  ProbeShape shape_;
  int64_t lanes_;
  tir::BufferRef data_, places_, out_, sums_;
};

}  // namespace

int64_t memory_of(Probe probe, const ProbeShape& shape, int64_t lanes) {
  if (probe == Probe::kFma) return 2 * lanes;
  return (shape.elements + lanes) * (probe == Probe::kStrided ? kStride : 1);
}

double vectors_of(Probe probe, const ProbeShape& shape, int64_t lanes) {
  const double elements = static_cast<double>(shape.elements * shape.passes);
  return probe == Probe::kFma ? elements * static_cast<double>(shape.sums) : elements / static_cast<double>(lanes);
}

tir::PrimFunc make_probe(arith::Context& context, Probe probe, const ProbeShape& shape, int64_t lanes) {
  return Writer(context, probe, shape, lanes).write();
}

}  // namespace relaxc::driver
