#include "pkg/util/version.h"

namespace berth::util {

std::string_view Version() {
  return BERTH_VERSION;
}

}  // namespace berth::util
