// Information about this build, in the fields that Kubernetes' programs have.
#pragma once
#include <string>

namespace berth::kube_scheduler {

struct BuildInfo {
  std::string major, minor, git_version, git_commit, git_tree_state, build_date, go_version, compiler, platform;
};
BuildInfo GetBuildInfo();

}  // namespace berth::kube_scheduler
