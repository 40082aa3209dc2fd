// Random graphs, lowered and interpreted: the same bits, within exactly the arena that is asked for.
//
// A planner that lets two live buffers overlap, a result that is written before its last reader, a view that outlives
// its memory: each shows as a wrong number here, without knowing how the planner works.
#include <catch2/catch.hpp>
#include <random>

#include "tests/unit/lower/harness.h"

namespace relaxc::test {
namespace {

class Graph {
 public:
  explicit Graph(uint32_t seed) : random_(seed) {}

  std::string text() {
    std::string body;
    std::vector<std::string> values{"x", "w"};
    int steps = 3 + static_cast<int>(random_() % 12);
    for (int i = 0; i < steps; ++i) body += step(values, "v" + std::to_string(i), 1);
    std::string results, infos;
    int count = 1 + static_cast<int>(random_() % 3);
    for (int i = 0; i < count; ++i) {
      results += (i > 0 ? ", " : "") + pick(values);
      infos += std::string(i > 0 ? ", " : "") + "R.Tensor((\"n\", 4), \"float32\")";
    }
    std::string result = count == 1 ? infos : "R.Tuple(" + infos + ")";
    return "@R.function\ndef main(x: R.Tensor((\"n\", 4), \"float32\"), w: R.Tensor((\"n\", 4), \"float32\"), c: "
           "R.Tensor((), \"bool\")) -> " +
           result + ":\n    n = T.int64()\n" + body + "    return " + (count == 1 ? results : "(" + results + ")") +
           "\n";
  }

 private:
  std::string pick(const std::vector<std::string>& values) { return values[random_() % values.size()]; }

  std::string step(std::vector<std::string>& values, const std::string& name, int depth) {
    std::string pad(static_cast<size_t>(depth) * 4, ' '), a = pick(values), b = pick(values);
    std::string line;
    switch (random_() % 8) {
      case 0:
        line = pad + name + " = R.add(" + a + ", " + b + ")\n";
        break;
      case 1:
        line = pad + name + " = R.multiply(" + a + ", R.const(0.5, \"float32\"))\n";
        break;
      case 2:
        line = pad + name + " = R.nn.softmax(" + a + ", axis=0)\n";
        break;
      case 3:
        line = pad + name + "f = R.reshape(" + a + ", R.shape([n * 4]))\n" + pad + name + "g = R.negative(" + name +
               "f)\n" + pad + name + " = R.reshape(" + name + "g, R.shape([n, 4]))\n";
        break;
      case 4:
        line = pad + name + "s = R.sum(" + a + ", axis=[0], keepdims=True)\n" + pad + name + " = R.subtract(" + b +
               ", " + name + "s)\n";
        break;
      case 5:
        if (depth < 3) {
          line = branch(values, name, depth);
          break;
        }
        [[fallthrough]];
      case 6:
        if (depth < 3) {
          line = loop(values, name, depth);
          break;
        }
        [[fallthrough]];
      default:
        line = pad + name + " = R.maximum(" + a + ", " + b + ")\n";
        break;
    }
    values.push_back(name);
    return line;
  }

  std::string branch(const std::vector<std::string>& values, const std::string& name, int depth) {
    std::string pad(static_cast<size_t>(depth) * 4, ' ');
    std::vector<std::string> inside = values, other = values;
    std::string yes = step(inside, name + "a", depth + 1), no = step(other, name + "b", depth + 1);
    std::string deeper = pad + "    ";
    return pad + "if c:\n" + yes + deeper + name + " = R.add(" + inside.back() + ", " + pick(inside) + ")\n" + pad +
           "else:\n" + no + deeper + name + " = R.subtract(" + other.back() + ", " + pick(other) + ")\n";
  }

  std::string loop(const std::vector<std::string>& values, const std::string& name, int depth) {
    std::string pad(static_cast<size_t>(depth) * 4, ' '), start = pick(values), carried = name + "c";
    std::vector<std::string> inside = values;
    inside.push_back(carried);
    std::string body = step(inside, name + "d", depth + 1);
    std::string trips = std::to_string(random_() % 4);
    return pad + "with R.loop(" + trips + ", carried=(" + start + ",)) as (" + name + "i, " + carried + "):\n" + body +
           pad + "    " + name + "e = R.multiply(" + inside.back() + ", R.const(0.5, \"float32\"))\n" + pad + "    " +
           name + " = R.carry(" + name + "e)\n";
  }

  std::mt19937 random_;
};

TEST_CASE("random graphs give the same bits in exactly their arena") {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    std::string text = Graph(seed).text();
    INFO("seed " << seed << "\n" << text);
    Program program(text);
    INFO(program.messages());
    REQUIRE(program.ok());
    for (double c : {0, 1})
      check_same(program, {floats({3, 4}, -1.5), floats({3, 4}, 0.25), tensor(DType::boolean(), {}, {c})});
  }
}

}  // namespace
}  // namespace relaxc::test
