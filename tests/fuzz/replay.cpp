// replay.cpp: the main of a fuzz target where libFuzzer is not: runs it on every file of the folders it is given.
//
// With -variations, given before the folders, also on every beginning of each small file and on it with every byte
// replaced. With -mutations=N also on N texts with small mistakes made of those files, and -first=M begins with the
// M-th. Each runs in a process of its own, which may take 5 s and 1 GB; one that ends otherwise than well is printed.
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

/// Every beginning of the text, and the text with each of its bytes replaced in turn.
uint64_t run_variations(const std::string& text) {
  constexpr size_t kLongest = 600;
  if (text.size() > kLongest) return 0;
  uint64_t count = 0;
  for (size_t size = 0; size < text.size(); ++size, ++count) run(text.substr(0, size));
  for (size_t at = 0; at < text.size(); ++at)
    for (char byte : {'\0', '\1', '\x7f', '\x80', '\xff', '9', '\''}) {
      std::string changed = text;
      changed[at] = byte;
      run(changed);
      ++count;
    }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> texts;
  uint64_t mutations = 0, first = 0, variations = 0;
  bool varies = false;
  for (int i = 1; i < argc; i++) {
    std::string word = argv[i];
    if (word.rfind("-mutations=", 0) == 0) mutations = std::strtoull(word.c_str() + 11, nullptr, 10);
    if (word.rfind("-first=", 0) == 0) first = std::strtoull(word.c_str() + 7, nullptr, 10);
    varies = varies || word == "-variations";
    if (word[0] == '-') continue;  // else a flag of libFuzzer
    std::set<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(word))
      if (entry.is_regular_file() && entry.path().filename() != "CMakeLists.txt") paths.insert(entry.path());
    for (const std::filesystem::path& path : paths) {
      std::cout << path.filename().string() << std::endl;  // flushed: the last one is the one that crashed
      std::ifstream file(path, std::ios::binary);
      texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
      run(texts.back());
      if (varies) variations += run_variations(texts.back());
    }
  }
  if (varies) std::cout << variations << " variations" << std::endl;
  if (texts.empty()) std::cerr << "no file to replay\n";
  return texts.empty() || run_mutations(texts, first, mutations) > 0 ? 1 : 0;
}
