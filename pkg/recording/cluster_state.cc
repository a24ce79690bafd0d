#include "pkg/recording/cluster_state.h"

#include <absl/strings/numbers.h>

#include <utility>

#include "pkg/util/status.h"

namespace berth::recording {
namespace {

using scheduler::Answer;

InFlight::Meaning AfterEviction(const std::string& uid, bool goes_on, decltype(InFlight::nominated)* nominated) {
  if (goes_on) return {.evicting = uid};
  nominated->erase(uid);
  return {.unnominated = uid};
}

}  // namespace

void ClusterState::Note(AnyChange&& any) {
  std::visit(
      [this]<typename T>(scheduler::Change<T>& c) {
        auto& objects = std::get<ObjectTable<T>>(objects_);
        const api::ObjectMeta* const before = c.before != nullptr ? &c.before->meta : nullptr;
        const T* const after = c.after.get();
        if (before != nullptr &&
            (after == nullptr || after->meta.name != before->name || after->meta.ns != before->ns)) {
          objects.Erase(*before);
        }
        if (after != nullptr) objects.Set(std::move(c.after));
        if constexpr (std::is_same_v<T, api::Pod>) {
          if (before != nullptr && (after == nullptr || after->meta.uid != before->uid)) {
            Left(before->uid);
          }
          if (after == nullptr) return;
          if (!after->node_name.empty() || after->Finished()) {
            Left(after->meta.uid);
          } else if (!after->nominated_node_name.empty()) {
            once_nominated.insert(after->meta.uid);
          }
          (void)Shown(*after);
        }
      },
      any);
}

void InFlight::Binds(scheduler::RequestId id, const std::string& uid, util::Symbol node) {
  assumed[uid] = {util::SharedSymbol(node), false};
  open_binds[id] = uid;
}

bool InFlight::IsOpenBind(scheduler::RequestId id, const std::string& uid, util::Symbol node) const {
  const auto open = open_binds.find(id);
  if (open == open_binds.end() || open->second != uid) return false;
  const auto it = assumed.find(uid);
  return it != assumed.end() && it->second.node == node;
}

void InFlight::Nominates(scheduler::RequestId id, const std::string& uid, const std::string& node) {
  if (node.empty()) {
    nominated.erase(uid);
    return;
  }
  nominated[uid] = {node, ""};
  once_nominated.insert(uid);
  open_nominations[id] = uid;
}

std::optional<std::string> InFlight::Shown(const api::Pod& pod) {
  if (nominated.empty()) return std::nullopt;
  auto it = nominated.find(pod.meta.uid);
  if (it == nominated.end()) return std::nullopt;
  const auto& [node, version] = it->second;
  uint64_t shown = 0, written = 0;
  const bool newer = absl::SimpleAtoi(util::ToAbsl(pod.meta.resource_version), &shown) &&
                     absl::SimpleAtoi(version, &written) && shown >= written;
  // The nomination is over as soon as the watch shows it or something newer.
  if (!newer && pod.nominated_node_name.str() != node) return node;
  nominated.erase(it);
  return std::nullopt;
}

InFlight::Meaning InFlight::Answered(const scheduler::Reply& r) {
  const Answer::Kind k = r.answer.kind;
  if (auto it = open_binds.find(r.id); it != open_binds.end()) {
    // Whatever the reply, the bind or an earlier lost one may have been carried out. When the scheduler gives up on the
    // pod, an event says so.
    if (auto a = assumed.find(it->second); a != assumed.end() && k == Answer::Kind::kOk) a->second.bound = true;
    open_binds.erase(it);
    return {};
  }
  if (auto it = open_nominations.find(r.id); it != open_nominations.end()) {
    if (k != Answer::Kind::kOk) {
      nominated.erase(it->second);
    } else if (auto n = nominated.find(it->second); n != nominated.end() && r.pod != nullptr) {
      n->second.second = r.pod->meta.resource_version.str();
    }
    open_nominations.erase(it);
    return {};
  }
  const bool done = k == Answer::Kind::kOk || k == Answer::Kind::kNotFound;
  if (auto it = open_marks.find(r.id); it != open_marks.end()) {
    const std::string uid = std::move(it->second);
    open_marks.erase(it);
    return AfterEviction(uid, done, &nominated);
  }
  if (auto it = open_deletions.find(r.id); it != open_deletions.end()) {
    const std::string uid = std::move(it->second);
    open_deletions.erase(it);
    // With a conflict, another pod has the victim's name by now.
    return AfterEviction(uid, done || k == Answer::Kind::kConflict, &nominated);
  }
  if (auto it = open_gets.find(r.id); it != open_gets.end()) {
    const std::string uid = it->second;
    open_gets.erase(it);
    const bool gone = k == Answer::Kind::kNotFound || (r.pod != nullptr && r.pod->meta.uid != uid);
    // A pod that was bound and has no node now is tried again. Otherwise the same bind may be sent again.
    const auto a = assumed.find(uid);
    const bool unbound = r.pod != nullptr && r.pod->node_name.empty() && a != assumed.end() && a->second.bound;
    if ((gone || unbound) && assumed.erase(uid) > 0) return {.unassumed = uid};
    return {.read = uid};
  }
  return {};
}

}  // namespace berth::recording
