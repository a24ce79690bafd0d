// Invariants of a collection: `window` holds its latest events in ascending order of their versions, at most
// `window_size` of them; `floor` is the version of the newest event that is not in the window any more (or of the
// start), so every later state can be rebuilt by undoing events.
#include "pkg/store/store.h"

#include <algorithm>

#include "pkg/util/contract.h"

namespace berth::apiserver {
namespace {

std::string KeyOf(std::string_view ns, std::string_view name) {
  std::string key(ns);
  if (!ns.empty()) key.push_back('/');
  return key.append(name);
}

}  // namespace

Store::Store(Version release) : catalog_(Catalog::Of(release)), collections_(catalog_.resources().size()) {
  for (const ResourceInfo& r : catalog_.resources()) At(r).window_size = r.window;
}

void Store::ForgetHistory() {
  for (Collection& c : collections_) {
    c.window.clear();
    c.floor = c.last_rv = rv_;
  }
}

ObjectPtr Store::Get(const ResourceInfo& r, std::string_view ns, std::string_view name) const {
  const Collection& c = At(r);
  auto it = c.objects.find(KeyOf(r.namespaced ? ns : std::string_view(), name));
  return it == c.objects.end() ? nullptr : it->second;
}

void Store::HoldValues(size_t most) {
  held_.assign(most, nullptr);
  next_held_ = 0;
}

void Store::Hold(const Object& o, size_t version, const std::shared_ptr<const Value>& v) const {
  if (o.of_value != nullptr) return;  // its text is made of the value that it has
  o.value = v;
  o.value_version = version;
  if (holds_all_) {
    o.kept_value = v;
    return;
  }
  held_[next_held_] = v;
  next_held_ = (next_held_ + 1) % held_.size();
}

std::shared_ptr<const Value> Store::Read(const ResourceInfo& r, size_t version, const Object& o) const {
  if (o.value_version == version) {
    if (auto known = o.value.lock()) return known;
  }
  auto v = std::make_shared<Value>(ToValue(r, version, o));
  if (holds_any()) {
    // Whoever changes a copy then copies no more than that.
    v->Freeze();
    Hold(o, version, v);
  }
  return v;
}

Value Store::ReadCopy(const ResourceInfo& r, size_t version, const Object& o) const {
  if (o.value_version == version) {
    if (const auto known = o.value.lock()) return *known;
  }
  return ToValue(r, version, o);
}

void Store::NoteValue(const ResourceInfo& r, const Object& o, Value v) const {
  const size_t version = StableVersionOf(r);
  if (held_.empty() || !HasStoredText(r, version)) return;
  Value normal = NormalValue(r, version, std::move(v), o.rv);
  normal.Freeze();
  BERTH_REQUIRES(validation::ToJson(normal) == validation::ToJson(ToValue(r, version, o)));
  Hold(o, version, std::make_shared<const Value>(std::move(normal)));
}

ObjectPtr Store::Make(const ResourceInfo& r, Value v, uint64_t rv) const {
  const size_t version = StableVersionOf(r);
  if (holds_all_ && rv > 0 && HasStoredText(r, version)) {
    return MakeObjectOf(r, version, NormalValue(r, version, std::move(v), rv), rv);
  }
  ObjectPtr o = MakeObject(r, v, rv);
  NoteValue(r, *o, std::move(v));
  return o;
}

ObjectPtr Store::MakeChanged(const ResourceInfo& r, Value v, const ObjectPtr& old,
                             const std::function<uint64_t()>& next_rv) const {
  const size_t version = StableVersionOf(r);
  if (old->of_value == &r && old->value_version == version) {
    Value now = NormalValue(r, version, std::move(v), old->rv);
    return now == *old->kept_value ? old : MakeObjectOf(r, version, std::move(now), next_rv(), old.get());
  }
  const ObjectPtr same = MakeObject(r, v, old->rv);
  if (same->body() == old->body()) return old;
  const uint64_t rv = next_rv();
  if (holds_all_ && HasStoredText(r, version)) return Make(r, std::move(v), rv);
  ObjectPtr o = WithResourceVersion(*same, rv);
  NoteValue(r, *o, std::move(v));
  return o;
}

void Store::Put(const ResourceInfo& r, ObjectPtr o) {
  Collection& c = At(r);
  auto e = std::make_shared<Event>();
  e->rv = o->rv;
  e->object = o;
  ObjectPtr& slot = c.objects[o->Key()];
  e->type = slot == nullptr ? EventType::kAdded : EventType::kModified;
  e->old = std::move(slot);
  slot = std::move(o);
  Publish(c, std::move(e));
}

void Store::Remove(const ResourceInfo& r, ObjectPtr last) {
  Collection& c = At(r);
  auto it = c.objects.find(last->Key());
  if (it == c.objects.end()) return;
  auto e = std::make_shared<Event>();
  e->type = EventType::kDeleted;
  e->rv = last->rv;
  e->old = std::move(it->second);
  e->object = std::move(last);
  c.objects.erase(it);
  Publish(c, std::move(e));
}

void Store::Refresh(const ResourceInfo& r, ObjectPtr o) {
  Collection& c = At(r);
  auto it = c.objects.find(o->Key());
  if (it != c.objects.end()) it->second = std::move(o);
}

// A listener may remove itself while it is being called. Its place then becomes null and is erased after the loop.
template <typename F>
void Store::ForEachListener(Collection& c, F call) {
  c.publishing = true;
  for (size_t i = 0; i < c.listeners.size(); ++i) {
    if (c.listeners[i] != nullptr) call(c.listeners[i]);
  }
  c.publishing = false;
  std::erase(c.listeners, nullptr);
}

void Store::Publish(Collection& c, EventPtr e) {
  c.last_rv = e->rv;
  if (c.window_size > 0) c.window.push_back(e);
  while (c.window.size() > c.window_size) {
    c.floor = c.window.front()->rv;
    c.window.pop_front();
  }
  if (c.window_size == 0) c.floor = e->rv;
  ForEachListener(c, [&](EventListener* l) { l->OnEvent(e); });
}

void Store::Tick(absl::Duration now) {
  for (Collection& c : collections_) {
    ForEachListener(c, [&](EventListener* l) { l->OnTick(now); });
  }
}

void Store::Scan(const ResourceInfo& r, std::string_view ns, std::string_view start_key,
                 const std::function<bool(const ObjectPtr&)>& f) const {
  const Collection& c = At(r);
  std::string prefix = ns.empty() ? std::string() : std::string(ns) + "/";
  for (auto it = c.objects.lower_bound(std::max(prefix, std::string(start_key))); it != c.objects.end(); ++it) {
    if (!it->first.starts_with(prefix)) return;
    if (!f(it->second)) return;
  }
}

bool Store::ScanAt(const ResourceInfo& r, std::string_view ns, std::string_view start_key, uint64_t at,
                   const std::function<bool(const ObjectPtr&)>& f) const {
  const Collection& c = At(r);
  if (at < c.floor) return false;
  // Rebuilds the state at that version by undoing the later events, newest first.
  absl::btree_map<std::string, ObjectPtr> then;
  for (auto it = c.window.rbegin(); it != c.window.rend() && (*it)->rv > at; ++it)
    then[(*it)->object->Key()] = (*it)->old;
  std::string prefix = ns.empty() ? std::string() : std::string(ns) + "/";
  std::string start = std::max(prefix, std::string(start_key));
  // Merges both in the order of their keys. An entry of `then` replaces the object with the same key; a null entry is
  // an object that did not exist yet.
  auto now = c.objects.lower_bound(start);
  auto past = then.lower_bound(start);
  for (;;) {
    bool have_now = now != c.objects.end() && now->first.starts_with(prefix);
    bool have_past = past != then.end() && past->first.starts_with(prefix);
    if (!have_now && !have_past) return true;
    ObjectPtr o;
    if (have_past && (!have_now || past->first <= now->first)) {
      if (have_now && past->first == now->first) ++now;
      o = past->second;
      ++past;
    } else {
      o = now->second;
      ++now;
    }
    if (o != nullptr && !f(o)) return true;
  }
}

void Store::SetWindow(std::string_view resource, size_t events) {
  for (const ResourceInfo& r : catalog_.resources()) {
    if (r.resource == resource) At(r).window_size = events;
  }
}

void Store::SetDefaultWindow(size_t events) {
  static constexpr size_t kOrdinary = 100;
  for (const ResourceInfo& r : catalog_.resources()) {
    if (r.window == kOrdinary) At(r).window_size = events;
  }
}

void Store::AddListener(const ResourceInfo& r, EventListener* l) {
  At(r).listeners.push_back(l);
}

void Store::RemoveListener(const ResourceInfo& r, EventListener* l) {
  Collection& c = At(r);
  std::replace(c.listeners.begin(), c.listeners.end(), l, static_cast<EventListener*>(nullptr));
  if (!c.publishing) std::erase(c.listeners, nullptr);
}

}  // namespace berth::apiserver
