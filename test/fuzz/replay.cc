// Runs inputs through a fuzz target without a fuzzer: the corpus in make test, or one that was found.
// usage: fuzz-replay TARGET FILE...   (or --list), each input also cut off and with single bytes changed
#include <glog/logging.h>

#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "test/fuzz/fuzz.h"

int main(int argc, char** argv) {
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::FATAL;
  google::InitGoogleLogging(argv[0]);
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "--list") {
    for (const auto& t : berth::fuzz::Targets()) std::cout << t.name << "\n";
    return 0;
  }
  const berth::fuzz::Target* target = berth::fuzz::Find(name);
  if (target == nullptr || argc < 3) {
    std::cerr << "usage: fuzz-replay TARGET FILE... | --list\n";
    return 2;
  }
  size_t runs = 0;
  for (int i = 2; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) {
      std::cerr << argv[i] << ": cannot be read\n";
      return 2;
    }
    const std::string input = text.str();
    target->run(input);
    ++runs;
    const size_t step = 1 + input.size() / 64;
    for (size_t at = 0; at < input.size(); at += step) {
      target->run(std::string_view(input).substr(0, at));
      for (const char c : {'\0', '"', '{', '9', '-', '\xff'}) {
        std::string changed = input;
        changed[at] = c;
        target->run(changed);
      }
      runs += 7;
    }
  }
  std::cout << name << ": " << runs << " inputs\n";
  return 0;
}
