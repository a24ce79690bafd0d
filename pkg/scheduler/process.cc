#include "pkg/scheduler/process.h"

#include <absl/strings/str_cat.h>

namespace berth::scheduler {

std::string AssignedNote(const api::Pod& assumed) {
  return absl::StrCat("Successfully assigned ", assumed.meta.Key(), " to ", assumed.node_name.string());
}

}  // namespace berth::scheduler
