#include "pkg/releases/releases.h"

#include <glog/logging.h>

#include <algorithm>

#include "pkg/releases/v1_10/decides.h"
#include "pkg/releases/v1_13/decides.h"
#include "pkg/releases/v1_19/decides.h"
#include "pkg/releases/v1_29/decides.h"
#include "pkg/releases/v1_36/decides.h"
#include "pkg/releases/v1_8/decides.h"
#include "pkg/releases/v1_9/decides.h"

namespace berth::releases {
namespace {

struct Folder {
  release::Version version;
  Release release;
};

// In ascending order.
std::span<const Folder> Folders() {
  static const Folder kFolders[] = {
      {{8}, {v1_8::Decides(), scheduler::Process110()}},   {{9}, {v1_9::Decides(), scheduler::Process110()}},
      {{10}, {v1_10::Decides(), scheduler::Process110()}}, {{13}, {v1_13::Decides(), scheduler::Process113()}},
      {{19}, {v1_19::Decides(), scheduler::Process119()}}, {{29}, {v1_29::Decides(), scheduler::Process129()}},
      {{36}, {v1_36::Decides(), scheduler::Process136()}},
  };
  return kFolders;
}

}  // namespace

const Release& Of(const release::Id& id) {
  const auto folders = Folders();
  auto it = std::find_if(folders.begin(), folders.end(), [&](const Folder& f) { return f.version == id.version; });
  CHECK(it != folders.end()) << "release " << id.name << " has no folder";
  return it->release;
}

}  // namespace berth::releases
