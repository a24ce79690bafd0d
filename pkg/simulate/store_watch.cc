#include "pkg/simulate/store_watch.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "pkg/api/known_template.h"
#include "pkg/api/nomination.h"
#include "pkg/world/living/fields.h"

namespace berth::simulate {
namespace {

using apiserver::ResourceInfo;

// Returns whether a pod that fits nowhere may fit when an object of the kind changes. Kinds that only count in scores,
// and budgets, which their controller writes all the time, are none.
template <typename T>
constexpr bool MayHelp() {
  return !std::is_same_v<T, api::Service> && !std::is_same_v<T, api::ReplicationController> &&
         !std::is_same_v<T, api::ReplicaSet> && !std::is_same_v<T, api::StatefulSet> &&
         !std::is_same_v<T, api::PodDisruptionBudget> && !std::is_same_v<T, api::Namespace>;
}

}  // namespace

// The objects of one resource.
class StoreWatch::Followed : public apiserver::EventListener {
 public:
  Followed(StoreWatch* watch, const ResourceInfo& r) : watch_(watch), r_(r), version_(apiserver::StableVersionOf(r)) {
    watch_->registry_->store().AddListener(r_, this);
  }
  ~Followed() override { watch_->registry_->store().RemoveListener(r_, this); }

  void OnEvent(const apiserver::EventPtr& e) override { watch_->pending_.push_back({this, e}); }
  virtual void Take(const apiserver::Object& o, bool gone) = 0;
  void TakeAll() {
    std::vector<apiserver::ObjectPtr> all;
    watch_->registry_->store().Scan(r_, "", "", [&](const apiserver::ObjectPtr& o) {
      all.push_back(o);
      return true;
    });
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->rv < b->rv; });
    for (const apiserver::ObjectPtr& o : all) Take(*o, false);
  }

 protected:
  // Reads the object. What cannot be read is told to nobody, as an informer does not.
  template <typename T>
  api::Ptr<T> Read(const apiserver::Object& o, api::Document* document) const {
    text_.clear();
    apiserver::AppendObject(r_, version_, o, "", &text_);
    if (!document->Parse(text_).ok()) return nullptr;
    api::DecodeOptions options;
    if constexpr (std::is_same_v<T, api::Pod>) options.templates = &watch_->templates_;
    auto decoded = api::Decode<T>(document->root(), options);
    return decoded.ok() ? *decoded : nullptr;
  }

  // Reads a pod of this template.
  api::PodPtr ReadPod(const world::Value& pod, std::shared_ptr<const api::PodTemplate> made,
                      api::Document* document) const {
    text_.clear();
    validation::Encode(pod, *r_.type, &text_);
    if (!document->Parse(text_).ok()) return nullptr;
    auto decoded = api::DecodePodOfTemplate(document->root(), std::move(made));
    return decoded.ok() ? *decoded : nullptr;
  }

  StoreWatch* const watch_;

 private:
  const ResourceInfo& r_;
  const size_t version_;
  mutable std::string text_;
};

template <typename T>
class StoreWatch::FollowedKind final : public Followed {
 public:
  using Followed::Followed;

  void Take(const apiserver::Object& o, bool gone) override {
    api::Document document;
    const api::Ptr<T> now = gone ? nullptr : Read<T>(o, &document);
    if (now == nullptr && !gone) return;
    const std::string key = o.Key();
    const api::Ptr<T> before = std::exchange(shown_[key], now);
    if (gone) shown_.erase(key);
    if (before == nullptr && now == nullptr) return;
    if constexpr (std::is_same_v<T, api::Node>) watch_->node_seen_(before, now);
    if constexpr (std::is_same_v<T, api::PodDisruptionBudget>) watch_->budget_seen_();
    watch_->session_->Show<T>(before, now);
    if constexpr (MayHelp<T>()) watch_->session_->Changed();
  }

 private:
  absl::flat_hash_map<std::string, api::Ptr<T>> shown_;
};

class StoreWatch::FollowedPods final : public Followed {
 public:
  using Followed::Followed;

  void Take(const apiserver::Object& o, bool gone) override {
    const world::Value* const value = KeptValue(o);
    const auto seen = seen_.find(o.uid);
    if (gone || (value != nullptr && HasEnded(*value))) {
      if (seen != seen_.end()) seen_.erase(seen);
      return watch_->pod_over_(o.uid, !gone && PhaseOf(*value) == "Succeeded");
    }
    const api::PodPtr now = seen == seen_.end() ? nullptr : PodLike(seen->second, o);
    if (now != nullptr) return watch_->pod_seen_(o.uid, now);
    const api::PodPtr pod = Pod(o);
    if (pod == nullptr) return;
    // A status that says what containers have may change the template, so it is always read with the spec.
    if (value != nullptr && !HasAmounts(*value)) seen_.insert_or_assign(o.uid, Seen{o.kept_value, pod->tmpl});
    watch_->pod_seen_(o.uid, pod);
  }
  api::PodPtr Pod(const apiserver::Object& o) const {
    api::Document document;
    return Nominated(Read<api::Pod>(o, &document), document);
  }

 private:
  // The template of a pod, and the value that it was read from.
  struct Seen {
    world::ValuePtr value;
    std::shared_ptr<const api::PodTemplate> made;
  };

  // Returns null if the object is not kept as a value.
  static const world::Value* KeptValue(const apiserver::Object& o) {
    return o.of_value == nullptr ? nullptr : o.kept_value.get();
  }
  static std::string_view PhaseOf(const world::Value& pod) { return world::living::TextAt(pod, {"status", "phase"}); }
  static bool HasEnded(const world::Value& pod) {
    const std::string_view phase = PhaseOf(pod);
    return phase == "Succeeded" || phase == "Failed";
  }
  static bool HasAmounts(const world::Value& pod) {
    const world::Value& status = validation::OrEmpty(pod.Find("status"));
    if (status.Find("resources") != nullptr) return true;
    for (std::string_view list : {"containerStatuses", "initContainerStatuses"}) {
      for (const world::Value& c : validation::OrEmpty(status.Find(list)).items) {
        if (c.Find("resources") != nullptr) return true;
      }
    }
    return false;
  }
  // Returns whether two versions of a pod have the same template. What they share is not compared.
  static bool HaveOneTemplate(const world::Value& a, const world::Value& b) {
    const world::Value &meta = validation::OrEmpty(a.Find("metadata")),
                       &other = validation::OrEmpty(b.Find("metadata"));
    for (std::string_view part : {"labels", "namespace", "ownerReferences"}) {
      if (!(validation::OrEmpty(meta.Find(part)) == validation::OrEmpty(other.Find(part)))) return false;
    }
    const world::Value &spec = validation::OrEmpty(a.Find("spec")), &now = validation::OrEmpty(b.Find("spec"));
    for (const auto& [one, two] : {std::pair(&spec, &now), std::pair(&now, &spec)}) {
      for (size_t i = 0; i < one->keys.size(); ++i) {
        if (one->keys[i] == "nodeName") continue;
        const world::Value* same = two->Find(one->keys[i]);
        if (same == nullptr || !(*same == one->items[i])) return false;
      }
    }
    return true;
  }

  // Returns a pod with a node whose template is that of an earlier version, without reading it again. Returns null if
  // it may have another template.
  api::PodPtr PodLike(const Seen& seen, const apiserver::Object& o) const {
    const world::Value* const value = KeptValue(o);
    if (value == nullptr || world::living::TextAt(*value, {"spec", "nodeName"}).empty()) return nullptr;
    if (HasAmounts(*value) || !HaveOneTemplate(*seen.value, *value)) return nullptr;
    world::Value rest = *value;
    world::Value spec = world::Value::Object();
    spec.Set("nodeName", *value->At({"spec", "nodeName"}));
    rest.Set("spec", std::move(spec));
    api::Document document;
    return Nominated(ReadPod(rest, seen.made, &document), document);
  }
  api::PodPtr Nominated(const api::PodPtr& pod, const api::Document& document) const {
    const std::string& annotation = watch_->nomination_annotation_;
    if (pod == nullptr || annotation.empty()) return pod;
    return api::WithNominationFrom(annotation, pod, document.root());
  }

  absl::flat_hash_map<std::string, Seen> seen_;  // by uid, of pods that have not ended
};

StoreWatch::StoreWatch(apiserver::Registry* registry, Session* session, std::string_view nomination_annotation,
                       PodSeen pod_seen, PodOver pod_over, NodeSeen node_seen, BudgetSeen budget_seen)
    : registry_(registry),
      session_(session),
      nomination_annotation_(nomination_annotation),
      pod_seen_(std::move(pod_seen)),
      pod_over_(std::move(pod_over)),
      node_seen_(std::move(node_seen)),
      budget_seen_(std::move(budget_seen)) {
  api::WatchedKinds::ForEach([&]<typename T>() {
    const api::KindDescription& kind = api::KindOf<T>::kDescription;
    if (!kind.followed.Has(registry_->catalog().release())) return;
    for (const ResourceInfo& r : registry_->catalog().resources()) {
      if (r.kind != kind.kind) continue;
      if constexpr (std::is_same_v<T, api::Pod>) {
        kinds_.push_back(std::make_unique<FollowedPods>(this, r));
      } else {
        kinds_.push_back(std::make_unique<FollowedKind<T>>(this, r));
      }
      return;
    }
  });
}

StoreWatch::~StoreWatch() = default;

void StoreWatch::ShowAll() {
  pending_.clear();
  for (const auto& kind : kinds_) kind->TakeAll();
}

bool StoreWatch::Flush() {
  // Who is shown a change may make the next one, which is shown after those that came before it.
  if (std::exchange(flushing_, true)) return false;
  bool any = false;
  while (!pending_.empty()) {
    any = true;
    const std::vector<Pending> now = std::exchange(pending_, {});
    for (const Pending& p : now) p.kind->Take(*p.event->object, p.event->type == apiserver::EventType::kDeleted);
  }
  flushing_ = false;
  return any;
}

api::PodPtr StoreWatch::Pod(std::string_view ns, std::string_view name) {
  const apiserver::ObjectPtr o = registry_->store().Get(registry_->catalog().Core("pods"), ns, name);
  return o == nullptr ? nullptr : static_cast<const FollowedPods&>(*kinds_.back()).Pod(*o);
}

}  // namespace berth::simulate
