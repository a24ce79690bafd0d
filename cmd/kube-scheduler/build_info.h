// Information about this build, in the fields that Kubernetes' programs have.
#pragma once
#include <string>

#include "pkg/release/release.h"

namespace berth::kube_scheduler {

struct BuildInfo {
  std::string major, minor, git_version, git_commit, git_tree_state, build_date, go_version, compiler, platform;
};
// `release` is the emulated one, which gives the version its first part: v1.29.14-berth.1. Tools that compare
// the versions of a cluster's components expect that of the cluster.
BuildInfo GetBuildInfo(const release::Id& release);

}  // namespace berth::kube_scheduler
