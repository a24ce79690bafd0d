#include "test/fuzz/fuzz.h"

namespace berth::fuzz {
namespace {

std::vector<Target>& Registered() {
  static std::vector<Target> targets;
  return targets;
}

}  // namespace

bool Register(Target target) {
  Registered().push_back(target);
  return true;
}

const std::vector<Target>& Targets() {
  return Registered();
}

const Target* Find(std::string_view name) {
  for (const Target& t : Registered()) {
    if (name == t.name) return &t;
  }
  return nullptr;
}

}  // namespace berth::fuzz
