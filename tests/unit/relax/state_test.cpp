// States as text: names may hold colons, and what is printed is read as the same two names.
#include "compiler/relax/state.h"

#include <catch2/catch.hpp>

#include "compiler/relax/graph.h"

using namespace relaxc;
using namespace relaxc::relax;

namespace {

/// main(image:0, keys) -> (probabilities:0, more)
struct Program {
  Program() {
    Info info = tensor_info(context, {}, DType::f(32));
    function.make_argument(&function.body(), "image:0", info);
    function.make_argument(&function.body(), "keys", tuple_info(context, {info, info}));
    function.output_names = {"probabilities:0", "more"};
  }

  arith::Context context;
  Function function{context, "main"};
};

}  // namespace

TEST_CASE("the names of a function say which colon parts a state") {
  Program p;
  CHECK(parse_state("keys_1:more", p.function) == State{"keys_1", "more"});
  CHECK(parse_state("image:0:probabilities:0", p.function) == State{"image:0", "probabilities:0"});
  CHECK(parse_state("image:0:other:0", p.function) == State{"image:0", "other:0"});
  CHECK(parse_state("keys_1:probabilities:0", p.function) == State{"keys_1", "probabilities:0"});
  CHECK(parse_state("a:b:c", p.function) == State{"a", "b:c"});
}

TEST_CASE("a text without two names is no state") {
  Program p;
  for (const char* text : {"", "h", ":", "h:", ":h", "h\\:0"}) {
    INFO(text);
    CHECK(!parse_state(text, p.function));
  }
}

TEST_CASE("the text of a state is read as the same names by any function") {
  Program p;
  for (const State& state : {State{"h", "h_next"}, State{"a:0", "b:c"}, State{"a\\", ":b"}, State{"a\\:", "b\\"}}) {
    INFO(to_text(state));
    CHECK(parse_state(to_text(state), p.function) == state);
  }
  CHECK(to_text({"a:0", "b"}) == "a\\:0:b");
  CHECK(to_string(State{"a:0", "b"}) == "a:0:b");
}
