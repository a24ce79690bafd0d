// A release that was never published: scores up to 7, a predicate and a priority of its own, an order of writes, a
// queue and a lock that no real release has together, and a flag. Programs that are linked with it show that a release
// comes in through one door (test/fake_release_test.py): no other line knows it.
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <algorithm>
#include <vector>

#define Folders ShippedFolders
#include "pkg/releases/folders.cc"
#undef Folders

#include "pkg/scheduler/algorithm/general/general.h"
#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/scheduler/algorithm/per_node.h"
#include "pkg/util/status.h"

namespace berth::releases {

std::span<const Folder> Folders();

namespace fake {
namespace {

using namespace scheduler;  // NOLINT: a release is a table of the scheduler's rules

constexpr int64_t kMaxScore = 7;

// Returns the oldest shipped release for which `has` returns true, to begin with.
template <typename F>
const Folder& FirstShipped(F has) {
  const auto all = ShippedFolders();
  return *std::find_if(all.begin(), all.end(), has);
}
bool Samples(const Folder& f) {
  return f.release.decides.sampling != nullptr;
}
bool HasProfiles(const Folder& f) {
  return f.release.decides.plugins != nullptr;
}

// A pod fits a node whose label "colour" is that of the pod, or absent.
PredicateResult MatchColour(const api::Pod& pod, const NodeInfo& node) {
  static const util::Symbol kColour("colour");
  PredicateResult result;
  const auto theirs = node.node()->labels.Get(kColour);
  result.fit = !theirs || theirs == pod.tmpl->labels.Get(kColour);
  if (!result.fit) result.reasons.emplace_back("node(s) had another colour");
  result.unresolvable = true;
  return result;
}

// A node is better the longer its name is, up to kMaxScore letters.
absl::StatusOr<int64_t> LongName(const api::Pod&, const NodeInfo& node) {
  return std::min<int64_t>(kMaxScore, static_cast<int64_t>(node.node()->meta.name.size()));
}

void RegisterAlgorithms(Registry* r) {
  const auto predicate = [&](std::string_view name, FitPredicateFactory make, Traits traits) {
    CHECK_EQ(util::Message(r->AddPredicate(name, std::move(make), traits, /*mandatory=*/false)), "");
  };
  predicate(
      "MatchColour", [](const PluginFactoryArgs&) { return FromPerNode("MatchColour", MatchColour); },
      PredicateTraits(kPodLabels, ClusterPart::kNode));
  predicate("PodFitsResources", noderesources::PodFitsResources, PredicateTraits(kPodRequests, ClusterPart::kNodePods));
  CHECK_EQ(util::Message(r->AddPriority(
               "LongNamePriority", [](const PluginFactoryArgs&) { return FromMapReduce(LongName); }, 1,
               PriorityTraits(kPodNothing, ClusterPart::kNode, Normalisation::kNone))),
           "");
  CHECK_EQ(util::Message(r->AddProvider(kDefaultProvider, {{"MatchColour", "PodFitsResources"}, {"LongNamePriority"}})),
           "");
}

constexpr std::string_view kOrdering[] = {"MatchColour", "PodFitsResources"};

std::string FitErrorText(const NodeFailures& failures, size_t nodes, const PodRejection*) {
  std::string out = absl::StrCat("none of ", nodes, " would do");
  for (const std::string& reason : failures.CountedReasons()) absl::StrAppend(&out, "; ", reason);
  return out;
}

const scheduler::Release& Decides() {
  static const scheduler::Release kRelease = [] {
    scheduler::Release r = FirstShipped(Samples).release.decides;
    r.version = {77};
    r.max_score = kMaxScore;
    r.register_algorithms = RegisterAlgorithms;
    r.apply_gates = nullptr;
    r.predicate_ordering = kOrdering;
    r.fit_error_text = FitErrorText;
    r.sampling = nullptr;
    r.cache = {.order = NodeOrder::kNameDescending};
    r.wakes.queue.backs_off = true;
    return r;
  }();
  return kRelease;
}

// Policies, but the order of writes of releases with profiles.
const Process& Proceeds() {
  static const Process kProcess = [] {
    Process p = FirstShipped(HasProfiles).release.process;
    p.scheduled_note = [](const api::Pod& assumed) { return absl::StrCat("Sent to ", assumed.node_name.string()); };
    return p;
  }();
  return kProcess;
}

const DaemonForm& Serves() {
  static constexpr OwnFlag kFlags[] = {{"paint", false, "Ignored: nothing is painted."}};
  static const DaemonForm kForm = [] {
    DaemonForm f = FirstShipped(Samples).form;
    f.dialect.version = {77};
    f.dialect.lock = "leases";
    f.dialect.lock_timeout = 3;
    f.plain_port = 10777;
    f.flags = kFlags;
    return f;
  }();
  return kForm;
}

}  // namespace
}  // namespace fake

std::span<const Folder> Folders() {
  static const std::vector<Folder>* const kAll = [] {
    auto* all = new std::vector<Folder>;  // NOLINT: lives as long as the process
    for (const Folder& f : ShippedFolders()) all->push_back(f);
    all->push_back({{77}, {fake::Decides(), fake::Proceeds()}, fake::Serves()});
    return all;
  }();
  return *kAll;
}

}  // namespace berth::releases
