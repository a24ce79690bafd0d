// Replays from a checkpoint. The queue is not known, so the recording says which pod is tried and when. The contents of
// the cache follow from the changes, from the binds that the scheduler requested, and from the replies to them.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include "pkg/recording/replay_session.h"
#include "pkg/util/status.h"

namespace berth::recording {
namespace {

using Difference = ReplayResult::Difference;
using scheduler::Answer;

class NoActions final : public scheduler::Actions {
 public:
  void Bind(scheduler::RequestId, const api::PodPtr&, scheduler::Extender*) override {}
  void UpdatePodCondition(scheduler::RequestId, const api::PodPtr&, const api::PodCondition&) override {}
  void SetNominatedNode(scheduler::RequestId, const api::PodPtr&, util::Symbol) override {}
  void DeletePod(scheduler::RequestId, const api::PodPtr&) override {}
  void GetPod(scheduler::RequestId, const api::Pod&) override {}
  void GetNode(scheduler::RequestId, util::Symbol) override {}
  void UpdateVolume(scheduler::RequestId, const scheduler::VolumeBinder::Binding&) override {}
  void RecordEvent(const api::PodPtr&, scheduler::EventType, std::string_view, std::string) override {}
};

api::PodPtr On(const api::Pod& pod, std::string_view node) {
  auto copy = std::make_shared<api::Pod>(pod);
  copy->node_name = util::Symbol(node);
  return copy;
}

api::PodPtr Nominated(const api::Pod& pod, std::string_view node) {
  auto copy = std::make_shared<api::Pod>(pod);
  copy->nominated_node_name = util::Symbol(node);
  return copy;
}

class DecisionsSession final : public Session {
 public:
  absl::Status Build(const Step& checkpoint) {
    Core::Surroundings around;
    around.actions = &nothing_;
    around.clock = &clock_;
    around.make_extender = extenders_.Factory();
    auto core = Core::Make(checkpoint.header.configuration, around);
    if (!core.ok()) return core.status();
    core_ = *std::move(core);
    for (const Event& e : checkpoint.objects) Apply(std::get<AnyChange>(e.what));
    in_flight_ = checkpoint.in_flight;
    const InFlight& f = in_flight_;
    const std::map<std::string, InFlight::Assumed> in_order(f.assumed.begin(), f.assumed.end());
    for (const auto& [uid, assumed] : in_order) Assume(uid, assumed.node.string());
    for (const auto& [uid, nomination] : f.nominated) Nominate(uid, nomination.first);
    uint64_t turn = 0;
    for (const auto& [name, n] : f.round_robin) turn = std::max(turn, n);
    core_->SetTurn(turn);
    return absl::OkStatus();
  }

  // The input changes the state, and then each recorded output does: a decision is made again and compared, and all
  // other outputs are carried out as recorded.
  std::optional<Difference> Do(Step* step, ReplayResult* result) override {
    Begin(step);
    std::optional<Difference> first;
    for (const std::string& line : step->outputs) {
      auto d = Follow(line, result);
      if (d && !first) first = std::move(d);
    }
    return first;
  }
  std::vector<std::string> Outputs(Step* step) override {
    Begin(step);
    std::vector<std::string> out;
    ReplayResult ignored;
    for (const std::string& line : step->outputs) {
      const auto different = Follow(line, &ignored);
      out.push_back(different && !different->replayed.empty() ? different->replayed : line);
    }
    return out;
  }
  Core& core() override { return *core_; }

 private:
  // ---- what came in ----
  void Begin(Step* step) {
    clock_.Set(step->input);
    extenders_.Set(std::move(step->answers));
    refused_.clear();
    evicting_.clear();
    if (auto* any = std::get_if<AnyChange>(&step->input.what)) {
      Apply(*any);
    } else if (auto* r = std::get_if<ReplyInput>(&step->input.what)) {
      Answered(r->reply());
    }
  }
  void Apply(const AnyChange& any) {
    std::visit([this](const auto& c) { ApplyOne(c); }, any);
  }
  void ApplyOne(const scheduler::Change<api::Pod>& c) {
    if (c.before != nullptr && (c.after == nullptr || c.after->meta.uid != c.before->meta.uid)) Gone(*c.before);
    if (c.after == nullptr) return;
    if (c.after->Finished()) {
      Gone(*c.after);
    } else if (!c.after->node_name.empty()) {
      const bool known = core_->cache.GetPod(c.after->meta.uid) != nullptr;
      const bool assumed = known && core_->cache.IsAssumed(c.after->meta.uid);
      (void)(known && !assumed ? core_->cache.UpdatePod(c.after) : core_->cache.AddPod(c.after));
      in_flight_.Drop(c.after->meta.uid);
      assumed_.erase(c.after->meta.uid);
      Forget(*c.after);
    } else {
      const auto node = in_flight_.Shown(*c.after);
      Pending(node ? Nominated(*c.after, *node) : c.after);
    }
  }
  void ApplyOne(const scheduler::Change<api::Node>& c) {
    if (c.after == nullptr) {
      core_->cache.RemoveNode(c.before->meta.name);
    } else if (c.before == nullptr || !c.before->SchedulesLike(*c.after)) {
      core_->cache.AddNode(c.after);
    }
  }
  // For all other kinds the scheduler keeps no more than the cache does.
  template <typename T>
  void ApplyOne(const scheduler::Change<T>& c) {
    core_->scheduler->Apply(c);
  }
  void Pending(const api::PodPtr& pod) {
    const std::string& uid = pod->meta.uid;
    if (core_->cache.GetPod(uid) != nullptr) return;  // assumed
    pending_[pod->meta.Key()] = pod;
    if (!pod->nominated_node_name.empty()) in_flight_.once_nominated.insert(uid);
    auto* nominated = core_->queue->nominated();
    if (nominated == nullptr) return;
    nominated->Remove(*pod);
    nominated->Add(pod);
  }
  void Forget(const api::Pod& pod) {
    // Another pod may have this name by now.
    if (auto it = pending_.find(pod.meta.Key()); it != pending_.end() && it->second->meta.uid == pod.meta.uid) {
      pending_.erase(it);
    }
    if (auto* nominated = core_->queue->nominated()) nominated->Remove(pod);
  }
  void Gone(const api::Pod& pod) {
    in_flight_.Drop(pod.meta.uid);
    assumed_.erase(pod.meta.uid);
    if (const api::PodPtr known = core_->cache.GetPod(pod.meta.uid)) (void)core_->cache.RemovePod(*known);
    Forget(pod);
  }
  api::PodPtr Find(const std::string& uid) const {
    for (const auto& [key, pod] : pending_) {
      if (pod->meta.uid == uid) return pod;
    }
    return nullptr;
  }
  api::PodPtr FindAssumed(const std::string& key) const {
    for (const auto& [uid, pod] : assumed_) {
      if (pod->meta.Key() == key) return pod;
    }
    return nullptr;
  }
  // Returns the node of a pod that is on one or assumed to be on one; empty if there is none.
  std::string_view NodeOf(const std::string& key) const {
    std::string_view node;
    core_->cache.ForEachPod([&](const auto& p, const auto&) {
      if (p.pod->meta.Key() == key) node = p.pod->node_name.str();
    });
    return node;
  }
  void Assume(const std::string& uid, const std::string& node) {
    const api::PodPtr pod = Find(uid);
    if (pod == nullptr || !core_->cache.AssumePod(On(*pod, node)).ok()) return;
    assumed_[uid] = pod;
    Forget(*pod);
  }
  void Nominate(const std::string& uid, std::string_view node) {
    const api::PodPtr pod = Find(uid);
    if (pod != nullptr) Pending(Nominated(*pod, node));
  }
  void Answered(const scheduler::Reply& r) {
    auto nomination = in_flight_.open_nominations.find(r.id);
    const std::string nominee = nomination == in_flight_.open_nominations.end() ? "" : nomination->second;
    InFlight::Meaning meaning = in_flight_.Answered(r);
    evicting_ = std::move(meaning.evicting);
    refused_ = std::move(meaning.read);
    if (!meaning.unassumed.empty()) {
      Unassume(meaning.unassumed);
    } else if (!meaning.unnominated.empty()) {
      Nominate(meaning.unnominated, "");
    } else if (auto n = nodes_asked_.find(r.id); n != nodes_asked_.end()) {
      if (r.answer.kind == Answer::Kind::kNotFound) core_->cache.RemoveNode(n->second);
      nodes_asked_.erase(n);
    }
    if (!nominee.empty() && !r.answer.ok()) Nominate(nominee, "");
    if (r.pod == nullptr || !r.pod->node_name.empty()) return;
    auto it = pending_.find(r.pod->meta.Key());
    if (it == pending_.end() || it->second->meta.uid != r.pod->meta.uid) return;
    auto kept = in_flight_.nominated.find(r.pod->meta.uid);
    Pending(kept == in_flight_.nominated.end() ? r.pod : Nominated(*r.pod, kept->second.first));
  }
  void Unassume(const std::string& uid) {
    auto it = assumed_.find(uid);
    if (it == assumed_.end()) return;
    const api::PodPtr pod = it->second;
    assumed_.erase(it);
    if (!core_->cache.IsAssumed(uid)) return;
    (void)core_->cache.ForgetPod(*core_->cache.GetPod(uid));
    if (!pending_.contains(pod->meta.Key())) Pending(pod);
  }

  // ---- what went out ----
  std::optional<Difference> Follow(const std::string& line, ReplayResult* result) {
    api::Document doc;
    if (!doc.Parse(line).ok()) return std::nullopt;
    const api::Json j = doc.root();
    const auto text = [&](std::string_view key) { return std::string(j.FindExact(key).Text()); };
    const std::string what = text("out"), key = text("pod");
    if (what == "decision") return Decide(line, key, text("node"), result);
    // The order among equal victims is that in which pods came to their node, which a checkpoint does not contain.
    auto it = pending_.find(key);
    const auto id = static_cast<scheduler::RequestId>(j.FindExact("id").Int());
    if (what == "bind") {
      // The same bind may be sent again.
      if (const api::PodPtr pod = FindAssumed(key)) in_flight_.Binds(id, pod->meta.uid, util::Symbol(text("node")));
      if (it == pending_.end()) return std::nullopt;
      const std::string uid = it->second->meta.uid;
      in_flight_.Binds(id, uid, util::Symbol(text("node")));
      Assume(uid, text("node"));
    } else if (what == "get") {
      const api::PodPtr pod = it != pending_.end() ? it->second : FindAssumed(key);
      if (pod != nullptr) in_flight_.Reads(id, pod->meta.uid);
    } else if (what == "event" && text("reason") == "FailedScheduling") {
      // The scheduler has given up the bind of a pod that is assumed.
      if (const api::PodPtr pod = FindAssumed(key)) {
        in_flight_.Drop(pod->meta.uid);
        Unassume(pod->meta.uid);
      }
    } else if (what == "markVictim" || what == "delete") {
      Evict(id, what == "markVictim", key);
    } else if ((what == "nominate" || (what == "patch" && j.FindExact("node").IsString())) && it != pending_.end()) {
      in_flight_.Nominates(id, it->second->meta.uid, text("node"));
      Pending(Nominated(*it->second, text("node")));
    } else if (what == "getNode") {
      nodes_asked_[id] = text("node");
    }
    ++result->unchecked;
    return std::nullopt;
  }

  // Follows a request to mark or to delete the victim with this key. From 1.29 on the pod that it makes room for is
  // nominated before the first of them, in 1.19 once it was read.
  void Evict(scheduler::RequestId id, bool marks, const std::string& victim) {
    const std::string uid = refused_.empty() ? evicting_ : refused_;
    if (uid.empty()) return;
    marks ? in_flight_.Marks(id, uid) : in_flight_.Deletes(id, uid);
    const std::string_view node = refused_.empty() ? std::string_view() : NodeOf(victim);
    if (node.empty()) return;
    in_flight_.Prepares(uid, node);
    Nominate(uid, node);
  }

  std::optional<Difference> Decide(const std::string& line, const std::string& key, const std::string& node,
                                   ReplayResult* result) {
    ++result->decisions;
    auto it = pending_.find(key);
    if (it == pending_.end()) {
      // It may be an assumed pod whose bind was lost, and which the scheduler found out about.
      if (const api::PodPtr pod = FindAssumed(key)) Unassume(pod->meta.uid);
      it = pending_.find(key);
    }
    if (it == pending_.end()) {
      ++result->unchecked;
      return std::nullopt;
    }
    const api::PodPtr pod = it->second;
    Core::Profile* profile = core_->ProfileOf(*pod);
    if (profile == nullptr) return Different(key, line, "");
    auto* nominated = core_->queue->nominated();
    if (nominated != nullptr) nominated->Remove(*pod);
    const scheduler::Decision decision = profile->algorithm->Schedule(pod);
    const uint64_t turn = profile->algorithm->last_node_index();
    core_->SetTurn(turn);
    DecisionOutput out(pod, decision, turn);
    if (nominated != nullptr) nominated->Add(pod);
    result->placed += !node.empty();
    if (absl::StrContains(line, "\"unfit\":")) refused_ = pod->meta.uid;
    if (node.empty() == false && core_->volume_binder != nullptr && !out.host.empty()) {
      const scheduler::Row row = core_->cache.FindRow(out.host);
      (void)core_->volume_binder->AssumePodVolumes(*On(*pod, node), *core_->cache.row(row).node);
    }
    if (!node.empty() && core_->claim_binder != nullptr && !out.host.empty()) {
      const scheduler::Row row = core_->cache.FindRow(out.host);
      (void)core_->claim_binder->Assume(*On(*pod, node), *core_->cache.row(row).node);
    }
    Event e;
    e.what = std::move(out);
    const std::string replayed = OutputLine(e);
    if (replayed == line) {
      ++result->outputs;
      return std::nullopt;
    }
    // What follows is as recorded.
    api::Document doc;
    if (doc.Parse(line).ok()) {
      core_->SetTurn(static_cast<uint64_t>(doc.root().FindExact("counter").Int()));
    }
    // Whether a nomination counts depends on where the nominated pod is just then, which is not recorded.
    if (nominated == nullptr || !AnyNominated()) return Different(key, line, replayed);
    ++result->unchecked;
    return std::nullopt;
  }
  // Returns whether a pod is pending that was nominated at some time: its nomination may still or again count.
  bool AnyNominated() const {
    return std::any_of(pending_.begin(), pending_.end(),
                       [this](const auto& e) { return in_flight_.once_nominated.contains(e.second->meta.uid); });
  }

  static Difference Different(const std::string& pod, const std::string& recorded, const std::string& replayed) {
    Difference d;
    d.pod = pod;
    d.recorded = recorded;
    d.replayed = replayed;
    return d;
  }

  NoActions nothing_;
  ReplayClock clock_;
  ReplayExtenders extenders_;
  std::unique_ptr<Core> core_;
  std::map<std::string, api::PodPtr> pending_;  // by "namespace/name"
  std::map<std::string, api::PodPtr> assumed_;  // by uid, as they were while pending
  InFlight in_flight_;
  std::map<scheduler::RequestId, std::string> nodes_asked_;
  // The uid of the pod for which this step found no node or which it read, and of the one for which it evicted a
  // victim; each may be "".
  std::string refused_, evicting_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> NewDecisionsSession(const Step& checkpoint) {
  auto s = std::make_unique<DecisionsSession>();
  BERTH_RETURN_IF_ERROR(s->Build(checkpoint));
  return s;
}

}  // namespace berth::recording
