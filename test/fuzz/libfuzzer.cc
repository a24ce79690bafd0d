// libFuzzer's entry. One program has all targets; the environment's FUZZ_TARGET names the one to run.
#include <glog/logging.h>

#include "test/fuzz/fuzz.h"

namespace {
const berth::fuzz::Target* target = nullptr;
}

extern "C" int LLVMFuzzerInitialize(int*, char*** argv) {
  const char* name = std::getenv("FUZZ_TARGET");
  target = name == nullptr ? nullptr : berth::fuzz::Find(name);
  if (target == nullptr) {
    std::fprintf(stderr, "FUZZ_TARGET is none of:");
    for (const auto& t : berth::fuzz::Targets()) std::fprintf(stderr, " %s", t.name);
    std::fprintf(stderr, "\n");
    std::exit(2);
  }
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::FATAL;
  google::InitGoogleLogging((*argv)[0]);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  target->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
