#include "cmd/kube-scheduler/build_info.h"

#include "pkg/util/version.h"

namespace berth::kube_scheduler {

BuildInfo GetBuildInfo() {
  BuildInfo b;
  b.git_version = std::string(util::Version());
  // The version is "v1.10.0-..."; its first two numbers are major and minor.
  const size_t first = b.git_version.find('.');
  const size_t second = b.git_version.find('.', first + 1);
  if (first != std::string::npos && second != std::string::npos) {
    b.major = b.git_version.substr(1, first - 1);
    b.minor = b.git_version.substr(first + 1, second - first - 1);
  }
  b.git_commit = std::string(util::Commit());
  b.git_tree_state = "unknown";
  b.build_date = "unknown";
  b.go_version = "none";  // there is no Go in it
  b.compiler = "g++ " __VERSION__;
#if defined(__x86_64__)
  b.platform = "linux/amd64";
#elif defined(__aarch64__)
  b.platform = "linux/arm64";
#else
  b.platform = "linux/unknown";
#endif
  return b;
}

}  // namespace berth::kube_scheduler
