// replay.cpp: the main of a fuzz target where libFuzzer is not: runs it on every file of the folders it is given.
//
// With -mutations=N also on N texts with small mistakes made of those files, and -first=M begins with the M-th. Each
// runs in a process of its own, which may take 5 s and 1 GB; one that ends otherwise than well is printed.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "tests/fuzz/mutate.h"
#include "tests/property/isolated.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr unsigned kSeconds = 60;
constexpr size_t kMegabytes = size_t{1} << 40;  // which reserves shadow memory of all there is
#else
constexpr unsigned kSeconds = 5;
constexpr size_t kMegabytes = 1024;
#endif

void run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

int run_mutations(const std::vector<std::string>& texts, uint64_t first, uint64_t count) {
  using relaxc::property::Ended;
  int failures = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::string text = relaxc::fuzz::mutated(texts, seed);
    Ended ended = relaxc::property::run_isolated([&] { return run(text), std::string(); }, kSeconds, kMegabytes);
    if (ended.how == Ended::kWell) continue;
    ++failures;
    std::cout << "==== mutation " << seed << ": " << (ended.how == Ended::kTimedOut ? "too slow" : ended.output) << "\n"
              << text << std::endl;
  }
  std::cout << count << " mutations, " << failures << " end badly" << std::endl;
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> texts;
  uint64_t mutations = 0, first = 0;
  for (int i = 1; i < argc; i++) {
    std::string word = argv[i];
    if (word.rfind("-mutations=", 0) == 0) mutations = std::strtoull(word.c_str() + 11, nullptr, 10);
    if (word.rfind("-first=", 0) == 0) first = std::strtoull(word.c_str() + 7, nullptr, 10);
    if (word[0] == '-') continue;  // else a flag of libFuzzer
    std::set<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(word))
      if (entry.is_regular_file() && entry.path().filename() != "CMakeLists.txt") paths.insert(entry.path());
    for (const std::filesystem::path& path : paths) {
      std::cout << path.filename().string() << std::endl;  // flushed: the last one is the one that crashed
      std::ifstream file(path, std::ios::binary);
      texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
      run(texts.back());
    }
  }
  if (texts.empty()) std::cerr << "no file to replay\n";
  return texts.empty() || run_mutations(texts, first, mutations) > 0 ? 1 : 0;
}
