// Decodes nodes. A node that the scheduler may use again as it was (SchedulesLike) is compared field by field, so a
// field that is decoded for scheduling must be compared there too.
#include <absl/hash/hash.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "pkg/api/decode_internal.h"
#include "pkg/api/validation/value.h"

namespace berth::api::internal {
namespace {

// ---- lists that nodes share ----------------------------------------------------------------------

bool AreSame(const ResourceList& a, const ResourceList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first && x.second.IsSameAs(y.second); });
}
template <typename T>
bool AreSame(const std::vector<T>& a, const std::vector<T>& b) {
  return a == b;
}
size_t HashOf(const ResourceList& list) {
  return absl::HashOf(list);
}
size_t HashOf(const std::vector<NodeCondition>& list) {
  size_t hash = list.size();
  for (const NodeCondition& c : list) hash = absl::HashOf(hash, c.type, c.status);
  return hash;
}
size_t HashOf(const std::vector<Taint>& list) {
  size_t hash = list.size();
  for (const Taint& t : list) hash = absl::HashOf(hash, t.key, t.value, t.effect);
  return hash;
}

// The lists that a thread decoded last, by hash. They may be older than the texts of their symbols, because a list is
// only given to an object whose symbols, all of which are alive, have the same numbers.
template <typename T>
class RecentLists {
 public:
  // Returns a list with the elements of `list`, if possible one that exists. Inlined, g++ 12 warns of memory that is
  // freed wrongly, which it is not.
  [[gnu::noinline]] SharedList<T> Share(std::vector<T> list) {
    if (list.empty() || list.size() > kLongest) return list;
    SharedList<T>& recent = lists_[HashOf(list) % lists_.size()];
    if (!AreSame(recent.list(), list)) {
      list.shrink_to_fit();
      recent = std::move(list);
    }
    return recent;
  }
  static RecentLists& OfThisThread() {
    thread_local RecentLists lists;
    return lists;
  }

 private:
  static constexpr size_t kLongest = 64;  // longer lists are not shared, so that a thread holds little
  std::array<SharedList<T>, 256> lists_;
};

template <typename T>
SharedList<T> Share(std::vector<T> list) {
  return RecentLists<T>::OfThisThread().Share(std::move(list));
}

}  // namespace

// ---- members --------------------------------------------------------------------------------------

static void Read(Reader& r, const Path& at, Json j, Taint* out) {
  r.Members(at, j, Member("key", &out->key), Member("value", &out->value), Member("effect", &out->effect));
}

static void Read(Reader& r, const Path& at, Json j, NodeCondition* out) {
  r.Members(at, j, Member("type", &out->type), Member("status", &out->status));
}

static void Read(Reader& r, const Path& at, Json j, NodeImage* out) {
  r.Members(at, j, Member("names", &out->names), Member("sizeBytes", &out->size_bytes));
}

static void Read(Reader& r, const Path& at, Json j, AvoidPods* out) {
  std::string text;
  int64_t time = 0;
  const auto controller = [&](const Path& p, Json v) {
    OwnerReference owner;
    Read(r, p, v, &owner);
    *out = {.kind = owner.kind, .uid = std::move(owner.uid), .has_controller = true};
  };
  r.Members(at, j, Member("podSignature", Member("podController", controller)), Member("evictionTime", Time(&time)),
            Member("reason", &text), Member("message", &text));
}

namespace {

// Parses {"preferAvoidPods":[{"podSignature":{"podController":{...}},...}]}. If anything is wrong with it, it is empty.
std::vector<AvoidPods> ParseAvoidPods(std::string_view annotation, util::SymbolKeeper* keeper) {
  std::vector<AvoidPods> out;
  Document doc;
  if (annotation.empty() || !doc.Parse(annotation).ok()) return out;
  Reader r(keeper);
  r.Members({}, doc.root(), Member("preferAvoidPods", &out));
  if (!r.ok()) out.clear();
  return out;
}

void ReadImages(Reader& r, const Path& at, Json j, NodeImages* out) {
  NodeImagesMemory* const memory = r.options().images;
  if (memory != nullptr && memory->Take(j, out)) return;
  util::SymbolKeeper keeper;
  util::SymbolKeeper* const before = r.SetKeeper(&keeper);
  std::vector<NodeImage> images;
  Read(r, at, j, &images);
  r.SetKeeper(before);
  *out = NodeImages(std::move(images), keeper.Take());
  if (memory != nullptr && r.ok()) memory->Remember(j, *out);
}

void SetServerDefaults(Reader& r, ResourceList capacity, Node* node) {
  node->meta.ns = util::SharedSymbol();
  if (!node->allocatable.empty() || capacity.empty()) return;
  node->allocatable = Share(std::move(capacity));
  r.fill_in = [](validation::Value* fields) {
    validation::Value& status = fields->Child("status");
    if (const validation::Value* has = status.Find("capacity")) status.Set("allocatable", validation::Value(*has));
  };
}

}  // namespace

void Read(Reader& r, const Path& at, Json j, Node* out) {
  ResourceList capacity;
  std::vector<Taint> taints;
  std::vector<NodeCondition> conditions;
  std::vector<Symbol> features;
  std::string avoid;
  const auto read_capacity = [&](const Path& p, Json v) {
    if (r.options().server_defaults) Read(r, p, v, &capacity);
  };
  const auto add_allocatable = [&](const Path& p, Json v) {
    ResourceList allocatable = out->allocatable;  // of an object with two of them, the second adds to the first
    Read(r, p, v, &allocatable);
    out->allocatable = Share(std::move(allocatable));
  };
  const auto read_images = [&](const Path& p, Json v) { ReadImages(r, p, v, &out->images); };
  const auto parse_avoid = [&] { out->avoid_pods = ParseAvoidPods(avoid, r.keeper()); };
  const auto share_taints = [&] { out->taints = Share(std::move(taints)); };
  const auto share_conditions = [&] { out->conditions = Share(std::move(conditions)); };
  const auto move_features = [&] { out->declared_features = std::move(features); };
  r.Members(at, j,
            Member("metadata", &out->meta, Member("labels", &out->labels),
                   Member("annotations", Key("scheduler.alpha.kubernetes.io/preferAvoidPods", &avoid, parse_avoid))),
            Member("spec", Member("unschedulable", &out->unschedulable), Member("taints", &taints, share_taints)),
            Member("status", Member("allocatable", add_allocatable), Member("capacity", read_capacity),
                   Member("conditions", &conditions, share_conditions), Member("images", read_images),
                   Member("declaredFeatures", &features, move_features)));
  if (j.IsNull()) {
    r.Fail(at, j, "must be an object");
  } else if (out->meta.name.empty()) {
    r.Fail(Path{&at, "metadata", -1}, j.Find("metadata"), "must have a name");
  }
  if (r.options().server_defaults) SetServerDefaults(r, std::move(capacity), out);
  if (r.options().keep_node_raw) out->raw = SharedText(j.Serialize());
}

}  // namespace berth::api::internal

namespace berth::api {

NodeImages::NodeImages(std::vector<NodeImage> images, util::KeptTexts texts) {
  if (!images.empty()) shared_ = std::make_shared<const Shared>(Shared{std::move(images), std::move(texts)});
}

bool operator==(const NodeImages& a, const NodeImages& b) {
  return a.shared_ == b.shared_ || std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// ---- images that did not change ------------------------------------------------------------------

namespace {

// What tells the nodes of a watch apart before anything is parsed: the first name, as a rule metadata.name. Only where
// to look depends on it.
size_t HintOf(std::string_view before) {
  constexpr std::string_view kName = "\"name\"";
  const size_t at = before.find(kName);
  if (at == std::string_view::npos) return 0;
  before.remove_prefix(at + kName.size());
  const size_t begin = before.find('"');
  return begin == std::string_view::npos ? 0 : absl::HashOf(before.substr(begin, before.find('"', begin + 1) - begin));
}

}  // namespace

void NodeImagesMemory::Begin(std::string_view text) {
  text_ = text;
  at_ = kNowhere;
  known_ = nullptr;
}

size_t NodeImagesMemory::SizeIfKnown(size_t at, Json /*around*/) {
  // Of an object with two such arrays the first is passed over. Recordings are cut from the parsed document.
  if (at_ != kNowhere || KeepsSchedulingFields()) return 0;
  at_ = at;
  hint_ = HintOf(text_.substr(0, at));
  auto it = by_hint_.find(hint_);
  if (it == by_hint_.end() || it->second.size > text_.size() - at) return 0;
  known_ = it->second.images.lock();
  if (known_ == nullptr || internal::DigestOf(text_.substr(at, it->second.size)) != it->second.digest) {
    known_ = nullptr;
    return 0;
  }
  ++taken_;
  return it->second.size;
}

bool NodeImagesMemory::Take(Json array, NodeImages* out) {
  if (known_ == nullptr || array.begin_offset() != at_) return false;
  out->shared_ = known_;
  return true;
}

void NodeImagesMemory::Remember(Json array, const NodeImages& images) {
  if (at_ == kNowhere || array.begin_offset() != at_ || images.empty() || !array.IsArray()) return;
  if (by_hint_.size() >= next_sweep_) {
    absl::erase_if(by_hint_, [](const auto& entry) { return entry.second.images.expired(); });
    next_sweep_ = std::max<size_t>(1024, 2 * by_hint_.size());
  }
  const std::string_view text = text_.substr(at_, array.end_offset() - at_);
  by_hint_[hint_] = {text.size(), internal::DigestOf(text), images.shared_};
}

// ---- the node ------------------------------------------------------------------------------------

bool Node::SchedulesLike(const Node& o) const {
  return meta.name == o.meta.name && unschedulable == o.unschedulable && labels == o.labels && taints == o.taints &&
         allocatable == o.allocatable && conditions == o.conditions && images == o.images &&
         declared_features == o.declared_features && avoid_pods == o.avoid_pods &&
         meta.deletion_seconds == o.meta.deletion_seconds;
}

}  // namespace berth::api
