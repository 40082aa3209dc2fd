// LSTM, GRU and RNN against loops over scalars that follow ONNX's equations.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/ops/harness.h"

using namespace relaxc;
using namespace relaxc::test;

namespace {

/// A small deterministic stream of numbers in -1..1.
std::vector<double> noise(size_t count, unsigned seed) {
  std::vector<double> out;
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    out.push_back(static_cast<double>(static_cast<float>(static_cast<int32_t>(seed)) / 2147483648.0f));
  }
  return out;
}

struct Sizes {
  int64_t seq = 3, batch = 2, input = 2, hidden = 3, dirs = 1, gates = 4;
};

struct Weights {
  std::vector<double> x, w, r, b, h0, c0, p;
  std::vector<double> lengths;
};

Weights weights_for(const Sizes& s) {
  auto size = [](int64_t n) { return static_cast<size_t>(n); };
  Weights v;
  v.x = noise(size(s.seq * s.batch * s.input), 1);
  v.w = noise(size(s.dirs * s.gates * s.hidden * s.input), 2);
  v.r = noise(size(s.dirs * s.gates * s.hidden * s.hidden), 3);
  v.b = noise(size(s.dirs * 2 * s.gates * s.hidden), 4);
  v.h0 = noise(size(s.dirs * s.batch * s.hidden), 5);
  v.c0 = noise(size(s.dirs * s.batch * s.hidden), 6);
  v.p = noise(size(s.dirs * 3 * s.hidden), 7);
  return v;
}

double sigmoid(double v) {
  return 1 / (1 + std::exp(-v));
}

/// Y[seq, dirs, batch, hidden], Y_h and Y_c, element by element.
struct Reference {
  const Sizes& s;
  const Weights& v;
  relax::OpName kind;
  bool reverse = false, linear = false;
  std::vector<double> y, h, c;

  double gate(int64_t d, int64_t g, int64_t k, const double* x, const std::vector<double>& state, bool bias) const {
    int64_t row = (d * s.gates + g) * s.hidden + k, both = 2 * s.gates * s.hidden;
    double sum = 0;
    for (int64_t i = 0; x != nullptr && i < s.input; ++i) sum += x[i] * v.w[size_t(row * s.input + i)];
    for (int64_t i = 0; !state.empty() && i < s.hidden; ++i) sum += state[size_t(i)] * v.r[size_t(row * s.hidden + i)];
    if (bias && x != nullptr) sum += v.b[size_t(d * both + g * s.hidden + k)];
    if (bias && !state.empty()) sum += v.b[size_t(d * both + (s.gates + g) * s.hidden + k)];
    return sum;
  }
  double peep(int64_t d, int64_t g, int64_t k) const { return v.p[size_t((d * 3 + g) * s.hidden + k)]; }

  void run() {
    y.assign(size_t(s.seq * s.dirs * s.batch * s.hidden), 0);
    for (int64_t d = 0; d < s.dirs; ++d)
      for (int64_t n = 0; n < s.batch; ++n) {
        std::vector<double> state, cell;
        for (int64_t k = 0; k < s.hidden; ++k) state.push_back(v.h0[size_t((d * s.batch + n) * s.hidden + k)]);
        for (int64_t k = 0; k < s.hidden; ++k) cell.push_back(v.c0[size_t((d * s.batch + n) * s.hidden + k)]);
        int64_t length = v.lengths.empty() ? s.seq : int64_t(v.lengths[size_t(n)]);
        for (int64_t step = 0; step < length; ++step) {
          int64_t t = reverse || d == 1 ? length - 1 - step : step;
          const double* x = &v.x[size_t((t * s.batch + n) * s.input)];
          one(d, x, state, cell);
          for (int64_t k = 0; k < s.hidden; ++k)
            y[size_t(((t * s.dirs + d) * s.batch + n) * s.hidden + k)] = state[size_t(k)];
        }
        h.insert(h.end(), state.begin(), state.end());
        c.insert(c.end(), cell.begin(), cell.end());
      }
  }

  void one(int64_t d, const double* x, std::vector<double>& state, std::vector<double>& cell) const {
    std::vector<double> next = state;
    if (kind == "nn.gru") {
      std::vector<double> z, r, reset;
      for (int64_t k = 0; k < s.hidden; ++k) z.push_back(sigmoid(gate(d, 0, k, x, state, true)));
      for (int64_t k = 0; k < s.hidden; ++k) r.push_back(sigmoid(gate(d, 1, k, x, state, true)));
      for (int64_t k = 0; k < s.hidden; ++k) reset.push_back(r[size_t(k)] * state[size_t(k)]);
      for (int64_t k = 0; k < s.hidden; ++k) {
        double of_state =
            linear ? r[size_t(k)] * gate(d, 2, k, nullptr, state, true) : gate(d, 2, k, nullptr, reset, true);
        double fresh = std::tanh(gate(d, 2, k, x, {}, true) + of_state);
        next[size_t(k)] = (1 - z[size_t(k)]) * fresh + z[size_t(k)] * state[size_t(k)];
      }
    } else if (kind == "nn.rnn") {
      for (int64_t k = 0; k < s.hidden; ++k) next[size_t(k)] = std::tanh(gate(d, 0, k, x, state, true));
    } else {
      for (int64_t k = 0; k < s.hidden; ++k) {
        double& old = cell[size_t(k)];
        double in = sigmoid(gate(d, 0, k, x, state, true) + peep(d, 0, k) * old);
        double forget = sigmoid(gate(d, 2, k, x, state, true) + peep(d, 2, k) * old);
        old = forget * old + in * std::tanh(gate(d, 3, k, x, state, true));
        double out = sigmoid(gate(d, 1, k, x, state, true) + peep(d, 1, k) * old);
        next[size_t(k)] = out * std::tanh(old);
      }
    }
    state = next;
  }
};

/// Runs the operator on the weights (symbolic seq and batch) and compares all results with the reference.
void compare(relax::OpName kind, Sizes s, Weights v, Attrs attrs, bool reverse = false, bool linear = false) {
  Program p;
  arith::Expr seq = p.symbol("seq"), batch = p.symbol("batch");
  if (s.seq == 1) seq = p.index(1);
  int64_t rows = s.gates * s.hidden;
  std::vector<Value*> operands{
      p.input(floats({s.seq, s.batch, s.input}, v.x), {seq, batch, p.index(s.input)}),
      p.constant(floats({s.dirs, rows, s.input}, v.w)),
      p.constant(floats({s.dirs, rows, s.hidden}, v.r)),
      p.constant(floats({s.dirs, 2 * rows}, v.b)),
      v.lengths.empty() ? nullptr : p.input(tensor(DType::i(32), {s.batch}, v.lengths), {batch}),
      p.input(floats({s.dirs, s.batch, s.hidden}, v.h0), {p.index(s.dirs), batch, p.index(s.hidden)})};
  if (kind == "nn.lstm") {
    operands.push_back(p.input(floats({s.dirs, s.batch, s.hidden}, v.c0), {p.index(s.dirs), batch, p.index(s.hidden)}));
    operands.push_back(p.constant(floats({s.dirs, 3 * s.hidden}, v.p)));
  }
  auto out = p.run(p.call_many(kind, operands, std::move(attrs)));
  Reference reference{s, v, kind, reverse, linear, {}, {}, {}};
  reference.run();
  check(out.at(0), {s.seq, s.dirs, s.batch, s.hidden}, reference.y, 1e-5);
  check(out.at(1), {s.dirs, s.batch, s.hidden}, reference.h, 1e-5);
  if (kind == "nn.lstm") check(out.at(2), {s.dirs, s.batch, s.hidden}, reference.c, 1e-5);
}

}  // namespace

TEST_CASE("an lstm over a sequence of symbolic length") {
  Sizes s;
  compare("nn.lstm", s, weights_for(s), {});
  compare("nn.lstm", s, weights_for(s), {{"direction", std::string("reverse")}}, true);
  s.seq = 1;
  compare("nn.lstm", s, weights_for(s), {});
  s = Sizes();
  s.dirs = 2;
  compare("nn.lstm", s, weights_for(s), {{"direction", std::string("bidirectional")}});
}

TEST_CASE("an lstm over sequences of different lengths") {
  Sizes s;
  s.dirs = 2;
  Weights v = weights_for(s);
  v.lengths = {3, 1};
  compare("nn.lstm", s, v, {{"direction", std::string("bidirectional")}});
}

TEST_CASE("gru and rnn") {
  Sizes s;
  s.gates = 3;
  compare("nn.gru", s, weights_for(s), {});
  compare("nn.gru", s, weights_for(s), {{"linear_before_reset", true}}, false, true);
  s.gates = 1;
  compare("nn.rnn", s, weights_for(s), {});
}

TEST_CASE("layout 1 puts the batch first") {
  Program p;
  Sizes s;
  s.seq = 2, s.batch = 1, s.gates = 1;
  Weights v = weights_for(s);
  v.h0.assign(v.h0.size(), 0);
  auto out = p.run(p.call_many("nn.rnn",
                               {p.input(floats({1, 2, 2}, v.x)), p.constant(floats({1, 3, 2}, v.w)),
                                p.constant(floats({1, 3, 3}, v.r)), p.constant(floats({1, 6}, v.b))},
                               {{"layout", 1}}));
  Reference reference{s, v, "nn.rnn", false, false, {}, {}, {}};
  reference.run();
  check(out.at(0), {1, 2, 1, 3}, reference.y, 1e-5);
  check(out.at(1), {1, 1, 3}, reference.h, 1e-5);
}

TEST_CASE("activations of cells are named and checked") {
  Sizes s;
  s.gates = 1;
  Weights v = weights_for(s);
  auto cell = [&](std::string name) {
    return error_of("nn.rnn", {floats({3, 2, 2}, v.x), floats({1, 3, 2}, v.w), floats({1, 3, 3}, v.r)},
                    {{"activations", std::vector<std::string>{name}}});
  };
  CHECK(cell("affine").empty());
  CHECK(cell("wave") == "activation \"wave\" of 'nn.rnn' is not known");
}

TEST_CASE("sequences are reversed within their lengths") {
  check(run_op("reverse_sequence", {floats({3, 2}, {1, 2, 3, 4, 5, 6}), longs({2}, {2, 3})}), {3, 2},
        {3, 6, 1, 4, 5, 2});
}
