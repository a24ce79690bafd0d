#include "pkg/scheduler/algorithmprovider/releases.h"

#include "pkg/scheduler/algorithmprovider/v1_10.h"

namespace berth::scheduler::algorithmprovider {

std::span<const Release* const> Releases() {
  static const Release* const kReleases[] = {&V1_10()};
  return kReleases;
}

const Release& DefaultRelease() {
  return V1_10();
}

const Release* FindRelease(std::string_view name) {
  for (const Release* r : Releases()) {
    if (r->name == name) return r;
  }
  return nullptr;
}

std::string ReleaseNames() {
  std::string out;
  for (const Release* r : Releases()) {
    if (!out.empty()) out += ", ";
    out += r->name;
  }
  return out;
}

}  // namespace berth::scheduler::algorithmprovider
