// Runs inputs through a fuzz target without libFuzzer: the corpus in make test, one input that was found, or random
// changes of the corpus for a while.
// usage: fuzz-replay TARGET FILE...                             each input as it is, cut off, and with single bytes
// changed
//        fuzz-replay --seed=N --seconds=S TARGET FILE...        then changes of them, the same ones for the same seed
//        fuzz-replay --list                                     the targets
//
// An input that ends the process is written to $FUZZ_FOUND (fuzz-found-TARGET in the working directory). Under a
// sanitizer that takes abort_on_error=1 in its options.
#include <fcntl.h>
#include <glog/logging.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "test/fuzz/fuzz.h"
#include "test/fuzz/mutate.h"

namespace {

constexpr size_t kMaxBytes = 8192;

// What the handler of fatal signals needs; it may not allocate.
std::string_view input_under_test;
std::string found_file;

void KeepInput(int signal_number) {
  const int file = open(found_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file >= 0 && write(file, input_under_test.data(), input_under_test.size()) >= 0) close(file);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void Run(const berth::fuzz::Target& target, std::string_view input) {
  input_under_test = input;
  target.run(input);
}

// Returns how many inputs were run: `input` and simple changes of it.
size_t RunAround(const berth::fuzz::Target& target, const std::string& input) {
  Run(target, input);
  size_t runs = 1;
  const size_t step = 1 + input.size() / 64;
  for (size_t at = 0; at < input.size(); at += step) {
    Run(target, std::string_view(input).substr(0, at));
    for (const char c : {'\0', '"', '{', '9', '-', '\xff'}) {
      std::string changed = input;
      changed[at] = c;
      Run(target, changed);
    }
    runs += 7;
  }
  return runs;
}

size_t RunFor(const berth::fuzz::Target& target, berth::fuzz::Mutator mutator, std::chrono::seconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  size_t runs = 0;
  for (; std::chrono::steady_clock::now() < end; ++runs) {
    const std::string input = mutator.Next();
    Run(target, input);
  }
  return runs;
}

std::string ReadFile(const char* name, bool* ok) {
  std::ifstream in(name, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  *ok = static_cast<bool>(in);
  return text.str();
}

}  // namespace

int main(int argc, char** argv) {
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::FATAL;
  google::InitGoogleLogging(argv[0]);
  unsigned long seed = 0;
  long seconds = 0;
  int at = 1;
  for (; at < argc; ++at) {
    const std::string a = argv[at];
    if (a.starts_with("--seed=")) {
      seed = std::stoul(a.substr(7));
    } else if (a.starts_with("--seconds=")) {
      seconds = std::stol(a.substr(10));
    } else {
      break;
    }
  }
  const std::string name = at < argc ? argv[at] : "";
  if (name == "--list") {
    for (const auto& t : berth::fuzz::Targets()) std::cout << t.name << "\n";
    return 0;
  }
  const berth::fuzz::Target* target = berth::fuzz::Find(name);
  if (target == nullptr || at + 1 >= argc) {
    std::cerr << "usage: fuzz-replay [--seed=N --seconds=S] TARGET FILE... | --list\n";
    return 2;
  }
  const char* found = std::getenv("FUZZ_FOUND");
  found_file = found != nullptr ? found : "fuzz-found-" + name;
  for (int s : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) signal(s, &KeepInput);
  std::vector<std::string> corpus;
  size_t runs = 0;
  for (int i = at + 1; i < argc; ++i) {
    bool ok = false;
    corpus.push_back(ReadFile(argv[i], &ok));
    if (!ok) {
      std::cerr << argv[i] << ": cannot be read\n";
      return 2;
    }
    runs += RunAround(*target, corpus.back());
  }
  if (seconds > 0) {
    bool ok = false;
    auto dictionary = berth::fuzz::ParseDictionary(ReadFile("test/fuzz/json.dict", &ok));
    if (!ok) {
      std::cerr << "test/fuzz/json.dict: cannot be read; run this in the project's root\n";
      return 2;
    }
    runs += RunFor(*target, {seed, std::move(corpus), std::move(dictionary), kMaxBytes}, std::chrono::seconds(seconds));
  }
  std::cout << name << ": " << runs << " inputs\n";
  return 0;
}
