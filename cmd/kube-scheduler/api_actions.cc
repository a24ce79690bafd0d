// Requests are collected in `batch_` and posted to the I/O thread together, which wakes it once for many decisions.
// Each request is answered by one reply in the inbox.
#include "cmd/kube-scheduler/api_actions.h"

#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <array>
#include <functional>
#include <utility>

#include "pkg/api/json.h"
#include "pkg/api/nomination.h"
#include "pkg/client/status_patch.h"
#include "pkg/util/status.h"

namespace berth::kube_scheduler {

using RequestAnswer = scheduler::Answer;
using scheduler::RequestId;

namespace {

RequestAnswer ToAnswer(const client::ApiError& e) {
  if (e.ok()) return {};
  RequestAnswer a{RequestAnswer::Kind::kRefused, e.message, e.details_kind};
  if (e.transport) {
    if (e.maybe_done) a.kind = RequestAnswer::Kind::kLost;
  } else if (e.code == 404) {
    a.kind = RequestAnswer::Kind::kNotFound;
  } else if (e.code == 409) {
    a.kind = RequestAnswer::Kind::kConflict;
  } else if (e.code >= 500) {
    a.kind = RequestAnswer::Kind::kServerError;
  }
  return a;
}

}  // namespace

// Calls to extenders block, so binds through them wait here for a thread of their own, which is started with the first
// one.
struct ApiActions::ExtenderBinds {
  explicit ExtenderBinds(Inbox* i) : inbox(i), thread([this] { Run(); }) {}
  ~ExtenderBinds() {
    {
      std::lock_guard lock(mutex);
      over = true;
    }
    news.notify_one();
    thread.join();
  }
  void Run() {
    std::unique_lock lock(mutex);
    for (;;) {
      news.wait(lock, [&] { return over || !work.empty(); });
      if (over) return;
      auto [id, pod, binder] = std::move(work.front());
      work.pop_front();
      lock.unlock();
      const absl::Status s = binder->Bind(*pod, pod->node_name.string());
      RequestAnswer a;
      // If an extender fails, the pod may or may not have been bound. The scheduler reads the pod from the API server
      // when the answer is a server error.
      if (!s.ok()) a = {RequestAnswer::Kind::kServerError, util::Message(s), ""};
      inbox->Put(scheduler::Reply{id, std::move(a), nullptr});
      lock.lock();
    }
  }

  struct Item {
    RequestId id;
    api::PodPtr pod;
    scheduler::Extender* binder;
  };
  Inbox* inbox;
  std::mutex mutex;
  std::condition_variable news;
  std::deque<Item> work;
  bool over = false;
  std::thread thread;  // must come last, because it uses the members above
};

ApiActions::ApiActions(client::Executor* executor, client::Requests* requests,
                       std::map<std::string, client::EventRecorder*, std::less<>> recorders, Inbox* inbox,
                       const api::Dialect& dialect)
    : executor_(executor), requests_(requests), recorders_(std::move(recorders)), inbox_(inbox), dialect_(dialect) {}

ApiActions::~ApiActions() = default;

void ApiActions::Flush() {
  if (batch_.empty()) return;
  executor_->Post([batch = std::exchange(batch_, {})] {
    for (const auto& f : batch) f();
  });
}

void ApiActions::Answered(RequestId id, const client::ApiError& e, api::PodPtr pod) {
  if (pod != nullptr && pod->raw != nullptr && !dialect_.nomination_annotation.empty()) {
    api::Document document;
    if (document.Parse(*pod->raw).ok()) {
      pod = api::WithNominationFrom(dialect_.nomination_annotation, pod, document.root());
    }
  }
  inbox_->Put(scheduler::Reply{id, ToAnswer(e), std::move(pod)});
}

void ApiActions::Bind(RequestId id, const api::PodPtr& pod, scheduler::Extender* binder) {
  if (binder != nullptr) {
    if (extender_binds_ == nullptr) extender_binds_ = std::make_unique<ExtenderBinds>(inbox_);
    {
      std::lock_guard lock(extender_binds_->mutex);
      extender_binds_->work.push_back({id, pod, binder});
    }
    extender_binds_->news.notify_one();
    return;
  }
  Send([this, id, pod] {
    const api::ObjectMeta& m = pod->meta;
    requests_->Bind({m.ns.str(), m.name, m.uid, pod->node_name.str()},
                    [this, id](client::ApiResult<client::Nothing> r) { Answered(id, r.error); });
  });
}

// Calls f with the newest object of the pod that has its JSON. If the JSON was not kept, the pod is read first.
void ApiActions::WithJson(RequestId id, const api::PodPtr& pod, std::function<void(const api::Pod&)> f) {
  if (pod->raw != nullptr) return f(*pod);
  const api::ObjectMeta& m = pod->meta;
  const auto read = [this, id, f = std::move(f), uid = m.uid](const client::ApiResult<api::PodPtr>& r) {
    if (!r.ok()) return Answered(id, r.error);
    if (r.value->meta.uid != uid) {
      client::ApiError e;
      e.code = 404;
      e.message = absl::StrCat("pods \"", r.value->meta.name, "\" is another one now");
      return Answered(id, e);
    }
    f(*r.value);
  };
  requests_->GetPod(m.ns.str(), m.name, read);
}

void ApiActions::PutStatus(RequestId id, const api::PodPtr& pod, client::PodStatusChange change) {
  Send([this, id, pod, change = std::move(change)] {
    WithJson(id, pod, [this, id, change](const api::Pod& p) {
      auto body = client::ApplyPodStatus(*p.raw, change);
      if (!body.ok()) {
        client::ApiError e;
        e.message = util::Message(body.status());
        return Answered(id, e);
      }
      requests_->PutPodStatus(p.meta.ns.str(), p.meta.name, *std::move(body),
                              [this, id](client::ApiResult<api::PodPtr> r) { Answered(id, r.error, r.value); });
    });
  });
}

void ApiActions::UpdatePodCondition(RequestId id, const api::PodPtr& pod, const api::PodCondition& c) {
  client::PodStatusChange change;
  change.scheduled = c;
  PutStatus(id, pod, std::move(change));
}

void ApiActions::SetNominatedNode(RequestId id, const api::PodPtr& pod, util::Symbol node) {
  if (!dialect_.nomination_annotation.empty()) {
    return Send([this, id, pod, node = node.string()] {
      WithJson(id, pod, [this, id, node](const api::Pod& p) {
        requests_->MergePodStatus(p.meta.ns.str(), p.meta.name,
                                  client::AnnotationPatch(*p.raw, dialect_.nomination_annotation, node),
                                  [this, id](client::ApiResult<api::PodPtr> r) { Answered(id, r.error, r.value); });
      });
    });
  }
  client::PodStatusChange change;
  change.nominated_node_name = node.string();
  PutStatus(id, pod, std::move(change));
}

int64_t ApiActions::GenerationOf(const api::Pod& pod) const {
  return dialect_.generation_of_conditions ? pod.meta.generation : 0;
}

void ApiActions::PatchPodStatus(RequestId id, const api::PodPtr& pod, const std::optional<api::PodCondition>& scheduled,
                                std::optional<util::Symbol> nominated_node) {
  client::PodStatusPatch patch;
  if (scheduled) patch.condition = {"PodScheduled", pod->scheduled, *scheduled, GenerationOf(*pod)};
  if (pod->raw != nullptr) patch.types = client::ConditionTypes(*pod->raw);
  if (nominated_node) patch.nominated_node_name = nominated_node->string();
  PatchStatus(id, pod, client::ToJson(patch));
}

void ApiActions::MarkVictim(RequestId id, const api::PodPtr& victim, const api::PodCondition& disruption_target) {
  client::PodStatusPatch patch;
  patch.condition = {"DisruptionTarget", {}, disruption_target, GenerationOf(*victim)};
  // The JSON of bound pods is not kept. An order that names only some of the conditions leaves the others in place.
  if (victim->scheduled) patch.types = {"PodScheduled"};
  PatchStatus(id, victim, client::ToJson(patch));
}

void ApiActions::PatchStatus(RequestId id, const api::PodPtr& pod, std::string body) {
  Send([this, id, pod, body = std::move(body)] {
    if (body.empty()) return Answered(id, {});  // there is nothing to change
    TryPatch(id, pod, body, 0);
  });
}

// Sends the patch. After a transient failure it is repeated after 10 ms, 50 ms and 250 ms, as in 1.29. A conflict is
// final.
void ApiActions::TryPatch(RequestId id, const api::PodPtr& pod, const std::string& body, int tries) {
  const api::ObjectMeta& m = pod->meta;
  requests_->PatchPodStatus(m.ns.str(), m.name, body, [this, id, pod, body, tries](client::ApiResult<api::PodPtr> r) {
    const bool passing = r.error.transport ? !r.error.maybe_done : r.error.code == 500 || r.error.code == 503;
    if (r.ok() || !passing || tries == 3) return Answered(id, r.error, r.value);
    static constexpr std::array<int, 3> kMilliseconds = {10, 50, 250};
    executor_->After(absl::Milliseconds(kMilliseconds[static_cast<size_t>(tries)]),
                     [this, id, pod, body, tries] { TryPatch(id, pod, body, tries + 1); });
  });
}

void ApiActions::DeletePod(RequestId id, const api::PodPtr& pod) {
  Send([this, id, pod] {
    requests_->DeletePod(pod->meta.ns.str(), pod->meta.name, pod->meta.uid,
                         [this, id](client::ApiResult<client::Nothing> r) { Answered(id, r.error); });
  });
}

void ApiActions::GetPod(RequestId id, const api::Pod& pod) {
  Send([this, id, ns = pod.meta.ns, name = pod.meta.name] {
    requests_->GetPod(ns.str(), name,
                      [this, id](client::ApiResult<api::PodPtr> r) { Answered(id, r.error, std::move(r.value)); });
  });
}

void ApiActions::GetNode(RequestId id, util::Symbol name) {
  Send([this, id, name] {
    requests_->GetNode(name.str(), [this, id](client::ApiResult<api::NodePtr> r) { Answered(id, r.error); });
  });
}

void ApiActions::UpdateVolume(RequestId id, const scheduler::VolumeBinder::Binding& binding) {
  Send([this, id, binding] {
    client::ApiError e;
    if (binding.volume->raw == nullptr) {
      e.message = absl::StrCat("the JSON of persistentvolume \"", binding.volume->meta.name, "\" was not kept");
      return Answered(id, e);
    }
    const api::ObjectMeta& claim = binding.claim->meta;
    auto body = client::ApplyClaimRef(*binding.volume->raw,
                                      {claim.ns.string(), claim.name, claim.uid, claim.resource_version.string()},
                                      binding.set_bound_by_controller);
    if (!body.ok()) {
      e.message = util::Message(body.status());
      return Answered(id, e);
    }
    requests_->PutPersistentVolume(binding.volume->meta.name, *std::move(body),
                                   [this, id](auto r) { Answered(id, r.error); });
  });
}

void ApiActions::UpdateClaim(RequestId id, const std::shared_ptr<const api::PersistentVolumeClaim>& claim) {
  Send([this, id, claim] {
    client::ApiError e;
    if (claim->raw == nullptr) {
      e.message = absl::StrCat("the JSON of persistentvolumeclaim \"", claim->meta.Key(), "\" was not kept");
      return Answered(id, e);
    }
    auto body = client::ApplySelectedNode(*claim->raw, claim->selected_node.value_or(""));
    if (!body.ok()) {
      e.message = util::Message(body.status());
      return Answered(id, e);
    }
    requests_->PutPersistentVolumeClaim(claim->meta.ns.str(), claim->meta.name, *std::move(body),
                                        [this, id](auto r) { Answered(id, r.error); });
  });
}

namespace {

client::ObjectReference ReferenceTo(const api::Pod& pod) {
  client::ObjectReference ref;
  ref.ns = pod.meta.ns.string();
  ref.name = pod.meta.name;
  ref.uid = pod.meta.uid;
  ref.resource_version = pod.meta.resource_version.str();
  return ref;
}

// Returns the action of an event, as 1.29 names it.
std::string_view ActionOf(std::string_view reason) {
  return reason == "Scheduled" ? "Binding" : reason == "Preempted" ? "Preempting" : "Scheduling";
}

}  // namespace

void ApiActions::RecordEvent(const api::PodPtr& pod, scheduler::EventType type, std::string_view reason,
                             std::string message) {
  RecordRelatedEvent(pod, type, reason, std::move(message), nullptr);
}

void ApiActions::RecordRelatedEvent(const api::PodPtr& pod, scheduler::EventType type, std::string_view reason,
                                    std::string message, const api::PodPtr& related) {
  auto it = recorders_.find(pod->tmpl->scheduler_name.str());
  if (it == recorders_.end()) it = recorders_.find("");
  std::optional<client::ObjectReference> other;
  if (related != nullptr) other = ReferenceTo(*related);
  it->second->Record(ReferenceTo(*pod),
                     type == scheduler::EventType::kNormal ? client::EventType::kNormal : client::EventType::kWarning,
                     reason, std::move(message), ActionOf(reason), std::move(other));
}

}  // namespace berth::kube_scheduler
