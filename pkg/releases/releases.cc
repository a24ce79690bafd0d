#include "pkg/releases/releases.h"

#include <glog/logging.h>

#include <algorithm>

#include "pkg/releases/folders.h"

namespace berth::releases {
namespace {

const Folder& FolderOf(const release::Id& id) {
  const auto folders = Folders();
  auto it = std::find_if(folders.begin(), folders.end(), [&](const Folder& f) { return f.version == id.version; });
  CHECK(it != folders.end()) << "release " << id.name << " has no folder";
  return *it;
}

}  // namespace

const Release& Of(const release::Id& id) {
  return FolderOf(id).release;
}

const DaemonForm& DaemonFormOf(const release::Id& id) {
  return FolderOf(id).form;
}

}  // namespace berth::releases
