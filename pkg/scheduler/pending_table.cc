#include "pkg/scheduler/pending_table.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

// Returns each claim of the pod once, although several of its volumes may name one.
std::vector<std::string> ClaimsOf(const api::Pod& pod) {
  std::vector<std::string> claims;
  for (const api::Volume& v : pod.tmpl->volumes) {
    const std::string ns = pod.meta.ns.string();
    if (v.kind == api::Volume::Kind::kClaim) claims.push_back(absl::StrCat(ns, "/", v.id));
    if (v.kind == api::Volume::Kind::kEphemeral) claims.push_back(absl::StrCat(ns, "/", pod.meta.name, "-", v.id));
  }
  std::sort(claims.begin(), claims.end());
  claims.erase(std::unique(claims.begin(), claims.end()), claims.end());
  return claims;
}

}  // namespace

api::PodPtr WithNomination(const api::Pod& pod, Symbol node) {
  auto copy = std::make_shared<api::Pod>(pod);
  copy->nominated_node_name = node;
  return copy;
}

std::string_view PlaceName(PendingPlace place) {
  static constexpr std::array<std::string_view, kPendingPlaces> kNames = {
      "queued",       "backoff", "refetching", "writing-status", "preempting", "writing-volumes", "binding",
      "bind-unknown", "bound",   "verifying",  "deleting",       "gated",      "unsupported"};
  return kNames[static_cast<size_t>(place)];
}

PendingPod* PendingTable::Find(const std::string& uid) const {
  auto it = by_uid_.find(uid);
  return it == by_uid_.end() ? nullptr : it->second.get();
}

PendingPod& PendingTable::Add(const api::PodPtr& pod, PendingPlace place, absl::Duration now) {
  BERTH_REQUIRES(!by_uid_.contains(pod->meta.uid));
  auto& slot = by_uid_[pod->meta.uid];
  slot = std::make_unique<PendingPod>();
  slot->pod = pod;
  slot->place = place;
  slot->since = now;
  slot->position = list_.size();
  list_.push_back(slot.get());
  ++by_place_[static_cast<size_t>(place)];
  slot->written_nomination = pod->nominated_node_name;
  slot->claims = ClaimsOf(*pod);
  for (const std::string& claim : slot->claims) by_claim_[claim].insert(slot.get());
  return *slot;
}

void PendingTable::Remove(PendingPod& p) {
  CancelRequest(p);
  StopWaiting(p);
  SetReasons(p, {});
  unsupported_with_claims_.erase(&p);
  for (const std::string& claim : p.claims) {
    auto it = by_claim_.find(claim);
    it->second.erase(&p);
    if (it->second.empty()) by_claim_.erase(it);
  }
  --by_place_[static_cast<size_t>(p.place)];
  CountGated(p, -1);
  list_.back()->position = p.position;
  list_[p.position] = list_.back();
  list_.pop_back();
  by_uid_.erase(by_uid_.find(p.pod->meta.uid));
}

void PendingTable::SetPlace(PendingPod& p, PendingPlace place) {
  --by_place_[static_cast<size_t>(p.place)];
  ++by_place_[static_cast<size_t>(place)];
  CountGated(p, -1);
  p.place = place;
  CountGated(p, 1);
  if (p.claims.empty()) return;
  if (place == PendingPlace::kUnsupported) {
    unsupported_with_claims_.insert(&p);
  } else {
    unsupported_with_claims_.erase(&p);
  }
}

// Adds `by` to the metric of gated pods if the pod is one. Called before and after its place changes.
void PendingTable::CountGated(const PendingPod& p, int by) {
  if (p.place == PendingPlace::kGated) metrics_->by_profile[p.pod->tmpl->scheduler_name.string()].gated += by;
}

void PendingTable::SetReasons(PendingPod& p, const std::vector<FailureReasonId>& reasons) {
  if (!p.reasons.empty()) --by_reason_[p.reasons[0]];
  p.reasons = reasons;
  if (!p.reasons.empty()) ++by_reason_[p.reasons[0]];
}

RequestId PendingTable::Ask(RequestKind kind, PendingPod* p, std::string what) {
  const RequestId id = ++last_request_;
  if (p != nullptr) {
    CancelRequest(*p);
    p->request = id;
  }
  requests_[id] = {kind, p, std::move(what)};
  return id;
}

void PendingTable::CancelRequest(PendingPod& p) {
  if (p.request != 0) requests_.erase(p.request);
  p.request = 0;
}

bool PendingTable::WaitsFor(const PendingPod& p, RequestKind kind) const {
  const auto it = requests_.find(p.request);
  return it != requests_.end() && it->second.kind == kind;
}

std::optional<Request> PendingTable::TakeRequest(RequestId id) {
  auto it = requests_.find(id);
  if (it == requests_.end()) return std::nullopt;
  Request request = std::move(it->second);
  requests_.erase(it);
  if (request.pod != nullptr) request.pod->request = 0;
  return request;
}

void PendingTable::Wait(PendingPod& p, absl::Duration until) {
  StopWaiting(p);
  p.timer = {until, ++last_timer_};
  timers_[p.timer] = &p;
}

void PendingTable::StopWaiting(PendingPod& p) {
  if (p.timer.second != 0) timers_.erase(p.timer);
  p.timer.second = 0;
}

absl::Duration PendingTable::FirstTimer() const {
  return timers_.empty() ? absl::InfiniteDuration() : timers_.begin()->first.first;
}

PendingPod* PendingTable::TakeEnded(absl::Duration now) {
  if (FirstTimer() > now) return nullptr;
  PendingPod* p = timers_.begin()->second;
  StopWaiting(*p);
  return p;
}

std::vector<PendingPod*> PendingTable::UsersOf(const std::string& claim) const {
  const auto users = by_claim_.find(claim);
  if (users == by_claim_.end()) return {};
  return {users->second.begin(), users->second.end()};
}

std::vector<PendingPod*> PendingTable::UnsupportedWithClaims() const {
  return {unsupported_with_claims_.begin(), unsupported_with_claims_.end()};
}

std::string PendingTable::CheckInvariants() const {
  std::string bad;
  std::array<size_t, kPendingPlaces> places{};
  size_t timers = 0, requests = 0;
  if (list_.size() != by_uid_.size()) bad += "the list of pending pods has another length than their table\n";
  for (const auto& [uid, p] : by_uid_) {
    const auto say = [&bad, &p = p](std::string_view what) {
      absl::StrAppend(&bad, "pod ", Name(*p->pod), " (", std::string(PlaceName(p->place)), "): ", std::string(what),
                      "\n");
    };
    ++places[static_cast<size_t>(p->place)];
    if (uid != p->pod->meta.uid) say("is listed under another uid");
    const bool listed = p->position < list_.size() && list_[p->position] == p.get();
    if (!listed) say("is not at its position in the list of pending pods");
    timers += p->timer.second != 0 ? 1 : 0;
    requests += p->request != 0 ? 1 : 0;
    if (p->request != 0 && !requests_.contains(p->request)) say("waits for a request that is not open");
  }
  if (places != by_place_) absl::StrAppend(&bad, "the counts by place are wrong\n");
  if (timers != timers_.size()) absl::StrAppend(&bad, "timers: ", timers_.size(), ", pods with one: ", timers, "\n");
  const auto waited_for =
      std::count_if(requests_.begin(), requests_.end(), [](const auto& r) { return r.second.pod != nullptr; });
  if (static_cast<size_t>(waited_for) != requests) absl::StrAppend(&bad, "requests open that no pod waits for\n");
  return bad;
}

}  // namespace berth::scheduler
