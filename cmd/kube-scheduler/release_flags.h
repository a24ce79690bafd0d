// Which flags of kube-scheduler a release has, and the flags for its secure port that came after 1.10.
//
// Manifests of kubeadm and others start kube-scheduler with flags of its release. Those that mean something here act;
// the others are accepted, and one line in the log says that they have no effect. A flag that the emulated release does
// not have is a mistake in the command line, as it is there, unless it is one of Berth's own or still acts.
#pragma once
#include <absl/status/status.h>

#include <span>
#include <string>
#include <vector>

#include "cmd/kube-scheduler/flags.h"
#include "cmd/kube-scheduler/options.h"
#include "pkg/release/release.h"
#include "pkg/releases/daemon_form.h"
#include "pkg/util/feature_gates.h"

namespace berth::kube_scheduler {

// Adds the flags of releases after 1.10. `secure` must outlive the set.
void AddReleaseFlags(flags::FlagSet& add, SecureServingOptions* secure);

// Returns kUnimplemented with pflag's text for the first flag of the command line that the release does not have.
// Appends to `warnings` a line that names the flags that have no effect, and one with those that act although the
// release does not have them: a plain port, and logs to standard error.
absl::Status CheckFlagsOfRelease(const flags::FlagSet& flags, const release::Id& release,
                                 std::vector<std::string>* warnings);

// Returns the feature gates as --help shows them.
std::string GatesUsage(std::span<const util::FeatureGate> gates);

// Returns the flags as --help shows them: those that the release has, with its defaults and gates. Null: all flags,
// with the defaults of the release that is emulated when none is named.
std::string UsageOf(const flags::FlagSet& flags, const release::Id* release);

// Returns the release's error about --scheduler-name and --hard-pod-affinity-symmetric-weight where it checks them
// before anything is built.
absl::Status CheckNameAndWeight(const releases::CommandForm& form, const Configuration& flags);

}  // namespace berth::kube_scheduler
