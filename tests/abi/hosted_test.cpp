// hosted_test.cpp: the optional helpers: threads that keep the contract of parallel_for, and weights mapped from a
// file. Also what only shows with threads: one model run by two at once.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <fstream>
#include <numeric>
#include <thread>

#include "call.h"
#include "relax_rt_hosted.h"

using namespace abi_test;

namespace {

struct Pool {
  explicit Pool(int32_t threads) : pool(rlx_pool_create(threads)) { REQUIRE(pool != nullptr); }
  ~Pool() { rlx_pool_destroy(pool); }
  Pool(const Pool&) = delete;
  rlx_pool* pool;
};

struct Squares {
  std::vector<int64_t> values;
  int32_t fail_from = INT32_MAX;
};

int32_t square(void* arg, int32_t index) {
  Squares& squares = *static_cast<Squares*>(arg);
  squares.values[size_t(index)] += int64_t(index) * index;
  return index >= squares.fail_from ? 100 + index : RLX_OK;
}

std::string temporary_file(const std::string& bytes) {
  char path[] = "/tmp/relaxc_weights_XXXXXX";
  const int file = mkstemp(path);
  REQUIRE(file >= 0);
  close(file);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string weights_file(uint64_t bytes = FAKE_WEIGHTS_BYTES) {
  rlx_weights_header header{};
  std::memcpy(header.magic, RLX_WEIGHTS_MAGIC, 8);
  header.abi_version = RLX_ABI_VERSION;
  header.header_bytes = sizeof header;
  header.bytes = bytes;
  std::memcpy(header.hash, fake_model.hash, 32);
  std::string content(FAKE_WEIGHTS_BYTES, '\0');
  std::memcpy(content.data(), &header, sizeof header);
  const float one = 1.0f;
  for (size_t i = 0; i < 4; ++i) std::memcpy(content.data() + 64 + 4 * i, &one, 4);
  return content;
}

int32_t map(const std::string& content, rlx_context& context) {
  const std::string path = temporary_file(content);
  const int32_t status = rlx_weights_map(path.c_str(), &fake_model, &context);
  unlink(path.c_str());
  return status;
}

}  // namespace

TEST_CASE("a pool runs every task once and has ended all of them on return") {
  for (int32_t threads : {1, 2, 4}) {
    Pool pool(threads);
    for (int32_t tasks : {0, 1, 2, 3, 8, 1000}) {
      Squares squares{std::vector<int64_t>(size_t(tasks)), INT32_MAX};
      for (int repeat = 1; repeat <= 50; ++repeat) {
        REQUIRE(rlx_pool_parallel_for(pool.pool, tasks, square, &squares) == RLX_OK);
        bool all = true;
        for (int64_t i = 0; i < tasks; ++i) all &= squares.values[size_t(i)] == i * i * repeat;
        REQUIRE(all);
      }
    }
  }
}

TEST_CASE("a failing task ends no other, and the lowest index decides what is returned") {
  Pool pool(3);
  for (int repeat = 0; repeat < 200; ++repeat) {
    Squares squares{std::vector<int64_t>(20), 5};
    REQUIRE(rlx_pool_parallel_for(pool.pool, 20, square, &squares) == 105);
    REQUIRE(squares.values[19] == 361);
  }
}

TEST_CASE("tasks of one call run on several threads") {
  Pool pool(2);
  struct Meeting {
    std::atomic<int> arrived{0};
    std::thread::id who[2];
  } meeting;
  // Both tasks wait for each other: what an object never does proves here that two threads work at a time.
  auto meet = [](void* arg, int32_t index) -> int32_t {
    Meeting& meeting = *static_cast<Meeting*>(arg);
    meeting.who[index] = std::this_thread::get_id();
    ++meeting.arrived;
    while (meeting.arrived < 2) std::this_thread::yield();
    return RLX_OK;
  };
  CHECK(rlx_pool_parallel_for(pool.pool, 2, meet, &meeting) == RLX_OK);
  CHECK(meeting.who[0] != meeting.who[1]);
}

TEST_CASE("a pool that is in use runs other calls serially instead of waiting") {
  Pool pool(2);
  struct Nested {
    rlx_pool* pool;
    std::atomic<int> inner{0};
  } nested;
  nested.pool = pool.pool;
  auto outer = [](void* arg, int32_t) -> int32_t {
    auto inner = [](void* arg, int32_t) -> int32_t {
      ++static_cast<Nested*>(arg)->inner;
      return RLX_OK;
    };
    return rlx_pool_parallel_for(static_cast<Nested*>(arg)->pool, 5, inner, arg);
  };
  CHECK(rlx_pool_parallel_for(pool.pool, 4, outer, &nested) == RLX_OK);
  CHECK(nested.inner == 20);
}

TEST_CASE("attaching a pool fills the fields of a context and nothing else") {
  Pool pool(3);
  rlx_context context = RLX_CONTEXT_INIT;
  rlx_pool_attach(pool.pool, &context);
  CHECK(context.parallel_for == rlx_pool_parallel_for);
  CHECK(context.parallel_user == pool.pool);
  CHECK(context.num_threads == 3);
  CHECK(context.arena == nullptr);
  CHECK(rlx_pool_create(0) == nullptr);
  rlx_pool_destroy(nullptr);
}

TEST_CASE("two threads run one model at once with two contexts") {
  std::atomic<int> wrong{0};
  auto work = [&wrong](int64_t n) {
    Call call = grow_call(n);
    for (int repeat = 0; repeat < 500; ++repeat)
      if (!call.succeeds() || call.out(0).memory.as<float>()[n * 4 - 1] != float(5 * n)) ++wrong;
  };
  std::thread first(work, 10), second(work, 24);
  first.join();
  second.join();
  CHECK(wrong == 0);
}

TEST_CASE("weights are mapped from their file and serve a run") {
  Call call(FAKE_WEIGHTS);
  call.input({4});
  call.output({4});
  REQUIRE(map(weights_file(), call.context) == RLX_OK);
  CHECK(call.context.weights_bytes == FAKE_WEIGHTS_BYTES);
  REQUIRE(call.succeeds());
  CHECK(call.out(0).memory.as<float>()[3] == 5.0f);
  rlx_weights_unmap(&call.context);
  CHECK(call.context.weights == nullptr);
  CHECK(call.context.weights_bytes == 0);
  rlx_weights_unmap(&call.context);
  CHECK(call.refused(RLX_WEIGHTS_SIZE));
}

TEST_CASE("a weights file that does not belong to the model is refused and not kept") {
  rlx_error error{};
  rlx_context context = RLX_CONTEXT_INIT;
  context.error = &error;
  CHECK(rlx_weights_map("/nonexistent/weights", &fake_model, &context) == RLX_FILE_IO);
  CHECK(error.actual == ENOENT);
  CHECK(rlx_weights_map("/tmp", &fake_model, &context) == RLX_FILE_IO);
  CHECK(map("", context) == RLX_FILE_FORMAT);
  CHECK(map(std::string(200, 'x'), context) == RLX_FILE_FORMAT);
  CHECK(map(weights_file().substr(0, 100), context) == RLX_WEIGHTS_SIZE);
  CHECK(error.expected == FAKE_WEIGHTS_BYTES);
  CHECK(error.actual == 100);
  CHECK(map(weights_file(96), context) == RLX_WEIGHTS_SIZE);
  CHECK(error.actual == 96);
  std::string content = weights_file();
  content[8] = 9;
  CHECK(map(content, context) == RLX_ABI_MISMATCH);
  content = weights_file();
  content[24 + 3] = 77;
  CHECK(map(content, context) == RLX_WEIGHTS_HASH);
  CHECK(error.code == RLX_WEIGHTS_HASH);
  CHECK(error.axis == 3);
  CHECK(error.expected == 4);
  CHECK(error.actual == 77);
  CHECK(context.weights == nullptr);
  context.error = nullptr;
  CHECK(map("", context) == RLX_FILE_FORMAT);
}

TEST_CASE("cpu features are known and the same whenever they are asked") {
  const uint64_t features = rlx_cpu_features();
  CHECK((features & RLX_CPU_KNOWN) != 0);
  CHECK(features == rlx_cpu_features());
#if defined(__x86_64__)
  __builtin_cpu_init();
  CHECK(((features & RLX_CPU_AVX2) != 0) == (__builtin_cpu_supports("avx2") != 0));
  CHECK(((features & RLX_CPU_FMA) != 0) == (__builtin_cpu_supports("fma") != 0));
  CHECK(((features & RLX_CPU_SSE42) != 0) == (__builtin_cpu_supports("sse4.2") != 0));
  CHECK(((features & RLX_CPU_AVX512_VNNI) != 0) == (__builtin_cpu_supports("avx512vnni") != 0));
#endif
}
