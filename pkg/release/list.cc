// The list of releases. It is an object file of its own, so that a test can be linked with another list.
#include "pkg/release/release.h"

namespace berth::release {

std::span<const Id> All() {
  static constexpr Id kReleases[] = {
      {"1.8", {8}, "v1.8.15"},    {"1.9", {9}, "v1.9.11"},    {"1.10", {10}, "v1.10.13"}, {"1.13", {13}, "v1.13.4"},
      {"1.19", {19}, "v1.19.16"}, {"1.29", {29}, "v1.29.14"}, {"1.36", {36}, "v1.36.3"},
  };
  return kReleases;
}

}  // namespace berth::release
