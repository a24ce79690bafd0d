// Decodes nodes. A node that the scheduler may use again as it was (SchedulesLike) is compared field by field, so a
// field that is decoded for scheduling must be compared there too.
#include <absl/hash/hash.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "pkg/api/decode_internal.h"
#include "pkg/api/validation/value.h"

namespace berth::api {
namespace {

// ---- lists that nodes share ----------------------------------------------------------------------

bool AreSame(const ResourceList& a, const ResourceList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first && x.second.IsSameAs(y.second); });
}
bool AreSame(const std::vector<NodeCondition>& a, const std::vector<NodeCondition>& b) {
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

// The lists that a thread decoded last, by hash. They may be older than the texts of their symbols, because a list is
// only given to an object whose symbols, all of which are alive, have the same numbers.
template <typename T>
class RecentLists {
 public:
  // Returns a list with the elements of `list`, if possible one that exists.
  SharedList<T> Share(std::vector<T> list) {
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

using internal::Is;
using internal::Path;
using internal::Reader;

constexpr char kAvoidPodsAnnotation[] = "scheduler.alpha.kubernetes.io/preferAvoidPods";

void ReadTaint(Reader& r, const Path& at, Json j, Taint* out) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "key")) {
      r.Read(p, v, &out->key);
    } else if (Is(key, "value")) {
      r.Read(p, v, &out->value);
    } else if (Is(key, "effect")) {
      r.Read(p, v, &out->effect);
    }
  });
}

void ReadCondition(Reader& r, const Path& at, Json j, NodeCondition* out) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "type")) {
      r.Read(p, v, &out->type);
    } else if (Is(key, "status")) {
      r.Read(p, v, &out->status);
    }
  });
}

void ReadImage(Reader& r, const Path& at, Json j, NodeImage* out) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "names")) {
      r.Read(p, v, &out->names);
    } else if (Is(key, "sizeBytes")) {
      r.Read(p, v, &out->size_bytes);
    }
  });
}

void ReadAvoidPodsEntry(Reader& r, const Path& at, Json j, AvoidPods* out) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    std::string text;
    int64_t time = 0;
    if (Is(key, "podSignature")) {
      r.Fields(p, v, [&](std::string_view inner, const Path& q, Json w) {
        if (!Is(inner, "podController")) return;
        OwnerReference owner;
        r.ReadOwner(q, w, &owner);
        out->has_controller = true;
        out->kind = owner.kind;
        out->uid = owner.uid;
      });
    } else if (Is(key, "evictionTime")) {
      r.ReadTime(p, v, &time);
    } else if (Is(key, "reason") || Is(key, "message")) {
      r.Read(p, v, &text);
    }
  });
}

// Parses {"preferAvoidPods":[{"podSignature":{"podController":{...}},...}]}. If anything is wrong with it, it is empty.
std::vector<AvoidPods> ParseAvoidPods(std::string_view annotation, util::SymbolKeeper* keeper) {
  std::vector<AvoidPods> out;
  Document doc;
  if (annotation.empty() || !doc.Parse(annotation).ok()) return out;
  Reader r(keeper);
  r.Fields({}, doc.root(), [&](std::string_view key, const Path& p, Json v) {
    if (!Is(key, "preferAvoidPods")) return;
    out.clear();
    r.Elements(p, v, [&](const Path& q, Json e) { ReadAvoidPodsEntry(r, q, e, &out.emplace_back()); });
  });
  if (!r.ok()) out.clear();
  return out;
}

void ReadMeta(Reader& r, const Path& at, Json j, Node* node) {
  r.ReadMeta(at, j, &node->meta);
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "labels")) {
      r.Read(p, v, &node->labels);
    } else if (Is(key, "annotations")) {
      r.Fields(p, v, [&](std::string_view name, const Path& q, Json w) {
        std::string text;
        if (name != kAvoidPodsAnnotation) return;
        r.Read(q, w, &text);
        node->avoid_pods = ParseAvoidPods(text, r.keeper());
      });
    }
  });
}

void ReadSpec(Reader& r, const Path& at, Json j, Node* node) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "unschedulable")) {
      r.Read(p, v, &node->unschedulable);
    } else if (Is(key, "taints")) {
      node->taints.clear();
      r.Elements(p, v, [&](const Path& q, Json e) { ReadTaint(r, q, e, &node->taints.emplace_back()); });
    }
  });
}

void ReadImages(Reader& r, const Path& at, Json j, NodeImagesMemory* memory, NodeImages* out) {
  if (memory != nullptr && memory->Take(j, out)) return;
  util::SymbolKeeper keeper;
  util::SymbolKeeper* const before = r.SetKeeper(&keeper);
  std::vector<NodeImage> images;
  r.Elements(at, j, [&](const Path& p, Json e) { ReadImage(r, p, e, &images.emplace_back()); });
  r.SetKeeper(before);
  *out = NodeImages(std::move(images), keeper.Take());
  if (memory != nullptr && r.ok()) memory->Remember(j, *out);
}

void ReadStatus(Reader& r, const Path& at, Json j, const DecodeOptions& o, Node* node, ResourceList* capacity) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "allocatable")) {
      ResourceList allocatable = node->allocatable;  // of an object with two of them, the second adds to the first
      r.Read(p, v, &allocatable);
      node->allocatable = Share(std::move(allocatable));
    } else if (o.server_defaults && Is(key, "capacity")) {
      r.Read(p, v, capacity);
    } else if (Is(key, "conditions")) {
      std::vector<NodeCondition> conditions;
      r.Elements(p, v, [&](const Path& q, Json e) { ReadCondition(r, q, e, &conditions.emplace_back()); });
      node->conditions = Share(std::move(conditions));
    } else if (Is(key, "images")) {
      ReadImages(r, p, v, o.images, &node->images);
    } else if (Is(key, "declaredFeatures")) {
      std::vector<Symbol> features;
      r.Read(p, v, &features);
      node->declared_features = std::move(features);
    }
  });
}

}  // namespace

absl::StatusOr<NodePtr> DecodeNode(Json j, const DecodeOptions& o) {
  Reader r;
  Node node;
  ResourceList capacity;
  r.Fields({}, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "metadata")) {
      ReadMeta(r, p, v, &node);
    } else if (Is(key, "spec")) {
      ReadSpec(r, p, v, &node);
    } else if (Is(key, "status")) {
      ReadStatus(r, p, v, o, &node, &capacity);
    }
  });
  if (j.IsNull()) {
    r.Fail({}, j, "must be an object");
  } else if (node.meta.name.empty()) {
    r.Fail(Path{nullptr, "metadata", -1}, j.Find("metadata"), "must have a name");
  }
  internal::FillIn fill_in;
  if (o.server_defaults) {
    node.meta.ns = util::SharedSymbol();
    if (node.allocatable.empty() && !capacity.empty()) {
      node.allocatable = Share(std::move(capacity));
      fill_in = [](validation::Value* fields) {
        validation::Value& status = fields->Child("status");
        if (const validation::Value* has = status.Find("capacity")) status.Set("allocatable", validation::Value(*has));
      };
    }
    if (node.meta.uid.empty()) node.meta.uid = internal::MadeUpUid("node", node.meta);
  }
  if (o.keep_node_raw) node.raw = std::make_shared<const std::string>(j.Serialize());
  return internal::Finish(r, "Node", j, std::move(node), fill_in);
}

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

size_t NodeImagesMemory::SizeIfKnown(size_t at) {
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
