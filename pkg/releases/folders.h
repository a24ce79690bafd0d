// The folders of releases. The list is an object file of its own, so that a test can be linked with another list.
#pragma once
#include <span>

#include "pkg/releases/daemon_form.h"
#include "pkg/releases/releases.h"

namespace berth::releases {

struct Folder {
  release::Version version;
  Release release;
  const DaemonForm& form;
};

// Returns all folders in ascending order of versions (folders.cc).
std::span<const Folder> Folders();

}  // namespace berth::releases
