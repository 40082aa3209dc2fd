// replay.cpp: the main of a fuzz target where libFuzzer is not: runs it once on every file of the folders it is given.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == '-') continue;  // a flag of libFuzzer
    std::set<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) paths.insert(entry.path());
    for (const std::filesystem::path& path : paths) {
      std::cout << path.filename().string() << std::endl;  // flushed: the last one is the one that crashed
      std::ifstream file(path, std::ios::binary);
      std::string bytes{std::istreambuf_iterator<char>(file), {}};
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
      files++;
    }
  }
  if (files == 0) std::cerr << "no file to replay\n";
  return files == 0 ? 1 : 0;
}
