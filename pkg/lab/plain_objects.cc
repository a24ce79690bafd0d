#include "pkg/lab/plain_objects.h"

#include <absl/strings/str_cat.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pkg/explain/output.h"
#include "pkg/lab/budgets.h"
#include "pkg/lab/completeness.h"
#include "pkg/lab/order.h"
#include "pkg/util/status.h"
#include "pkg/world/kinds.h"
#include "pkg/world/workload.h"

namespace berth::lab {
namespace {

world::Rules RulesOf(const Algorithm& algorithm) {
  world::Rules rules = world::RulesOf(algorithm.release->version);
  rules.priority = ByPriority(algorithm);
  return rules;
}

std::string KeyOf(const world::Value& object) {
  return absl::StrCat(util::ToAbsl(world::NamespaceOf(object)), "/", util::ToAbsl(world::NameOf(object)));
}

bool IsSuspended(const world::Value& cron) {
  const world::Value* suspended = cron.At({"spec", "suspend"});
  return suspended != nullptr && suspended->AsBool();
}

}  // namespace

bool ByPriority(const Algorithm& algorithm) {
  return world::RulesOf(algorithm.release->version).priority || algorithm.Gates().algorithm.pod_priority;
}

PlainObjects::PlainObjects(const ReadOptions* options, Input* out)
    : options_(*options),
      out_(out),
      manifests_(std::make_shared<Manifests>(options->defaults.release->version, RulesOf(options->defaults))) {
  plain_.algorithm = options->defaults;
}

void PlainObjects::AppendList(Scenario* list) {
  const size_t before = plain_.cluster.size();
  for (auto& o : list->cluster) plain_.cluster.push_back(std::move(o));
  plain_.pod_notes.insert(list->pod_notes.begin(), list->pod_notes.end());
  plain_.budgets.merge(list->budgets);
  std::move(list->given.begin(), list->given.end(), std::back_inserter(plain_.given));
  for (size_t i = 0; i < list->pending.size(); ++i) {
    plain_.AddPending(std::move(list->pending[i]), before + list->pending_after[i]);
  }
}

void PlainObjects::AppendWorkloads(Expander workloads) {
  workloads_.Append(std::move(workloads));
  any_ = true;
}

absl::Status PlainObjects::Finish(const ObjectPlaces& places, const StrayPods& strays, Validator* validator) {
  const bool validated = options_.validate != Validate::kOff;
  BERTH_RETURN_IF_ERROR(manifests_->Admit(plain_.cluster));
  TakeAwayRefused();
  if (validated) strays.Report(plain_, places, validator);
  BERTH_RETURN_IF_ERROR(TakeExpanded());
  if (validated) {
    for (const std::string& sentence : WhatIsMissing(plain_)) out_->warnings.push_back(sentence);
  }
  NoteDeleted();
  NoteNothingToPlace();
  FillInBudgets(&plain_);
  PutInOrder();
  out_->scenarios.push_back(std::move(plain_));
  return absl::OkStatus();
}

// Objects that an API server refuses do not exist.
void PlainObjects::TakeAwayRefused() {
  std::erase_if(plain_.cluster, [&](const api::Object& o) {
    return std::visit([&](const auto& p) { return manifests_->Refused(p.get()); }, o);
  });
  std::vector<api::PodPtr> pending = std::exchange(plain_.pending, {});
  const std::vector<size_t> after = std::exchange(plain_.pending_after, {});
  for (size_t i = 0; i < pending.size(); ++i) {
    if (!manifests_->Refused(pending[i].get())) plain_.AddPending(std::move(pending[i]), after[i]);
  }
}

// Adds the pods that the workloads of the input lack.
absl::Status PlainObjects::TakeExpanded() {
  auto made = workloads_.Make(options_.keep_given ? Expand::kOff : options_.expand, options_.autoscaled, plain_.cluster,
                              plain_.pending, manifests_.get());
  if (!made.ok()) return made.status();
  for (const auto& [kind, pods] : made->by) {
    if (pods == 0) continue;
    out_->warnings.push_back(absl::StrCat("made ", explain::Counted(pods, "pod"), " of objects of kind ", kind,
                                          ", as their controllers would (--expand=off leaves them out)"));
  }
  for (std::string& w : made->warnings) out_->warnings.push_back(std::move(w));
  if (!options_.keep_given) NoteCronJobs();
  plain_.goes_on = workloads_.FirstThatGoesOn();
  NoteRepeated();
  for (api::Object& o : made->objects) plain_.cluster.push_back(std::move(o));
  for (api::Object& o : manifests_->TakeMade()) plain_.cluster.push_back(std::move(o));
  for (api::PodPtr& p : made->pods) plain_.AddPending(std::move(p));
  plain_.bound_by_controller = std::move(made->bound_by_controller);
  auto daemons = workloads_.Daemons(manifests_.get());
  if (!daemons.ok()) return daemons.status();
  plain_.daemons = std::move(*daemons);
  plain_.manifests = manifests_;
  plain_.scales = workloads_.Scales();
  plain_.scales.merge(made->scales);
  NoteAutoscalersWithoutTarget();
  BERTH_RETURN_IF_ERROR(manifests_->BindClaims(&plain_.cluster));
  for (std::string& w : manifests_->Changes()) out_->warnings.push_back(std::move(w));
  for (std::string& w : manifests_->Refusals()) {
    (options_.validate == Validate::kStrict ? out_->mistakes : out_->warnings).push_back(std::move(w));
  }
  plain_.origins = std::make_shared<const Origins>(manifests_->TakeOrigins());
  return absl::OkStatus();
}

// Notes the first CronJob that makes Jobs for ever.
void PlainObjects::NoteRepeated() {
  manifests_->table().EachOf("CronJob", [&](const world::Value& cron) {
    if (!plain_.repeats.empty() || IsSuspended(cron)) return;
    plain_.repeats = ObjectKey("CronJob", world::NamespaceOf(cron), world::NameOf(cron));
  });
}

void PlainObjects::NoteCronJobs() {
  manifests_->table().EachOf("CronJob", [&](const world::Value& cron) {
    const int64_t pods =
        world::PodsWantedBy("Job", world::JobOfCronJob(cron, 0, manifests_->rules()), manifests_->rules()).count;
    out_->warnings.push_back(absl::StrCat("CronJob ", KeyOf(cron),
                                          IsSuspended(cron) ? " is suspended, so none is made of it ("
                                                            : " makes pods only at its times, so none is made of it (",
                                          explain::Counted(pods, "pod"), " a run)"));
  });
}

void PlainObjects::NoteAutoscalersWithoutTarget() {
  if (options_.expand == Expand::kOff) return;
  manifests_->table().EachOf("HorizontalPodAutoscaler", [&](const world::Value& hpa) {
    const world::Value* target = hpa.At({"spec", "scaleTargetRef"});
    const std::string_view kind = target == nullptr ? "" : target->Str("kind");
    if (world::WasStored(hpa) || !world::IsWorkload(kind)) return;
    const std::string key = ObjectKey(kind, world::NamespaceOf(hpa), target->Str("name"));
    if (plain_.scales.contains(key)) return;
    out_->warnings.push_back(
        absl::StrCat("warning: the input has no ", key, ", which HorizontalPodAutoscaler ", KeyOf(hpa), " names"));
  });
}

void PlainObjects::NoteDeleted() {
  if (deleted_ == 0) return;
  out_->warnings.push_back(absl::StrCat("left out ", explain::Counted(deleted_, "pending pod"),
                                        deleted_ == 1 ? " that is" : " that are",
                                        " being deleted, as the daemon does"));
}

// Warns of inputs with which nothing can happen, which are usually mistakes.
void PlainObjects::NoteNothingToPlace() {
  int64_t nodes = 0, bound = 0;
  for (const api::Object& o : plain_.cluster) {
    nodes += std::holds_alternative<api::NodePtr>(o);
    bound += std::holds_alternative<api::PodPtr>(o);
  }
  if (nodes == 0) out_->warnings.push_back("the input has no node");
  if (plain_.pending.empty() && !options_.more_pods) {
    out_->warnings.push_back(absl::StrCat("nothing to place: the input has ", explain::Counted(nodes, "node"), ", ",
                                          explain::Counted(bound, "pod"), " with a node, and no pending pod"));
  }
}

void PlainObjects::PutInOrder() {
  const bool by_priority = ByPriority(options_.defaults);
  if (options_.as_queue) {
    OrderAsQueue(by_priority, &plain_);
  } else if (!(options_.queued && by_priority) && QueueOrderDiffers(by_priority, plain_)) {
    out_->warnings.push_back(
        absl::StrCat("the pods are tried in the order of the input; the scheduler's queue has them ",
                     by_priority ? "by priority and age" : "by age", " (--order=queue)"));
  }
}

}  // namespace berth::lab
