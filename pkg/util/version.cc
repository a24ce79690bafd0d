#include "pkg/util/version.h"

namespace berth::util {

std::string_view Version() {
  return BERTH_VERSION;
}

std::string_view Commit() {
  return BERTH_COMMIT;
}

}  // namespace berth::util
