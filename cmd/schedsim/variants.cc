// Variants are the algorithms that a command compares. They are made in the order of the flags on the command line; a
// name that occurs again gets a number.
#include "cmd/schedsim/variants.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "cmd/schedsim/algorithm_flags.h"
#include "pkg/releases/releases.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

using lab::Variant;

// Returns the name of a variant: the file's name without folder and extension.
std::string NameOf(const std::string& file) {
  size_t slash = file.rfind('/');
  std::string name = slash == std::string::npos ? file : file.substr(slash + 1);
  if (size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0) name.resize(dot);
  return name;
}

absl::StatusOr<Variant> FromPolicy(const std::string& file, Variant v) {
  auto policy = ReadPolicyFile(file, v.algorithm);
  if (!policy.ok()) return policy.status();
  v.name = NameOf(file);
  v.algorithm.provider.reset();
  v.algorithm.policy = std::move(*policy);
  v.algorithm.policy_from_flag = true;
  return v;
}

}  // namespace

void AddVariantFlags(flags::FlagSet& add) {
  add("policy", Takes<Texts>("FILE"), "a Policy to try (may be repeated)");
  add("algorithm-provider", Takes<Texts>("NAME"),
      absl::StrCat("an algorithm provider to try (may be repeated): ",
                   scheduler::ListAlgorithmProviders(releases::Of(release::Default()).decides)));
  add("emulated-version", Takes<Texts>(release::NamesWith("|")),
      "a release to try with its default algorithm (may be repeated)");
  add("config", Takes<Texts>("FILE"), "a KubeSchedulerConfiguration with profiles to try (may be repeated)");
  add("percentage-of-nodes-to-score", Takes("N|release"),
      "stop looking once N % of the nodes fit, or where each release would, in its order (default: look at all nodes)");
}

absl::Status UsePercentage(const Invocation& invocation, bool several, lab::Algorithm* a) {
  if (!invocation.Has("percentage-of-nodes-to-score")) return absl::OkStatus();
  const std::string& value = invocation.Get<std::string>("percentage-of-nodes-to-score");
  int64_t number = 0;
  if (value == "release") {
    a->samples_as_release = true;
  } else if (absl::SimpleAtoi(value, &number) && number >= 0 && number <= 100) {
    a->percentage_of_nodes_to_score = number;
  } else {
    return flags::InvalidValue("percentage-of-nodes-to-score", value, "must be a number from 0 to 100, or release");
  }
  if (a->Decides().sampling != nullptr || (several && value == "release")) return absl::OkStatus();
  return util::InvalidArgument(absl::StrCat("--percentage-of-nodes-to-score: release ", std::string(a->release->name),
                                            " looks at all nodes; leave it out"));
}

absl::StatusOr<std::vector<Variant>> VariantsOf(const Invocation& invocation, const lab::Algorithm& base) {
  std::vector<Variant> variants;
  for (const auto& [flag, value] : invocation.ordered) {
    Variant v{{}, base};
    if (flag == "policy") {
      auto made = FromPolicy(value, v);
      if (!made.ok()) return made.status();
      variants.push_back(std::move(*made));
    } else if (flag == "algorithm-provider") {
      v.name = value;
      v.algorithm.policy.reset();
      v.algorithm.provider = value;
      variants.push_back(std::move(v));
    } else if (flag == "emulated-version" || flag == "config") {
      const bool file = flag == "config";
      v.name = file ? NameOf(value) : value;
      v.algorithm.policy.reset();
      v.algorithm.provider.reset();
      v.algorithm.profiles.reset();
      BERTH_RETURN_IF_ERROR(file ? UseConfiguration(value, nullptr, &v.algorithm) : UseRelease(value, &v.algorithm));
      variants.push_back(std::move(v));
    }
  }
  std::map<std::string, int> seen;
  for (Variant& v : variants) {
    BERTH_RETURN_IF_ERROR(UsePercentage(invocation, true, &v.algorithm));
    if (int n = ++seen[v.name]; n > 1) absl::StrAppend(&v.name, "-", n);
  }
  return variants;
}

std::unique_ptr<lab::Input> ReadOneCluster(const Invocation& invocation, int* exit_status, ReadHow how) {
  // A Policy that cannot be read is ignored here, because VariantsOf reports it later.
  auto variants = VariantsOf(invocation, {});
  how.whole = how.whole || (variants.ok() && std::any_of(variants->begin(), variants->end(), [](const Variant& v) {
                              return v.algorithm.call_extenders();
                            }));
  // The cluster is that of the release that is asked about: of the first one, if there are several.
  Invocation reading = invocation;
  if (variants.ok() && !variants->empty()) reading.algorithm.release = (*variants)[0].algorithm.release;
  std::unique_ptr<lab::Input> input = ReadOrComplain(reading, exit_status, how);
  if (input == nullptr) return nullptr;
  std::string error;
  if (input->scenarios.size() != 1) {
    error = absl::StrCat(util::ToAbsl(invocation.command->name), " works on one cluster, and the input has ",
                         input->scenarios.size(), " Scenarios");
  } else {
    error = input->scenarios[0].error;
  }
  if (error.empty()) return input;
  std::cerr << "schedsim: " << error << "\n";
  *exit_status = kExitBadInput;
  return nullptr;
}

}  // namespace berth::schedsim
