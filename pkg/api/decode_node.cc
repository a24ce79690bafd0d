// Decodes nodes. A node that the scheduler may use again as it was (SchedulesLike) is compared field by field, so a
// field that is decoded for scheduling must be compared there too.
#include <absl/strings/str_cat.h>

#include "pkg/api/decode_internal.h"

namespace berth::api {
namespace {

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
std::vector<AvoidPods> ParseAvoidPods(std::string_view annotation) {
  std::vector<AvoidPods> out;
  Document doc;
  if (annotation.empty() || !doc.Parse(annotation).ok()) return out;
  Reader r;
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
        node->avoid_pods = ParseAvoidPods(text);
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

void ReadStatus(Reader& r, const Path& at, Json j, Node* node, ResourceList* capacity) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "allocatable")) {
      r.Read(p, v, &node->allocatable);
    } else if (capacity != nullptr && Is(key, "capacity")) {
      r.Read(p, v, capacity);
    } else if (Is(key, "conditions")) {
      node->conditions.clear();
      r.Elements(p, v, [&](const Path& q, Json e) { ReadCondition(r, q, e, &node->conditions.emplace_back()); });
    } else if (Is(key, "images")) {
      node->images.clear();
      r.Elements(p, v, [&](const Path& q, Json e) { ReadImage(r, q, e, &node->images.emplace_back()); });
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
      ReadStatus(r, p, v, &node, o.server_defaults ? &capacity : nullptr);
    }
  });
  if (j.IsNull()) r.Fail({}, j, "must be an object");
  if (o.server_defaults) {
    node.meta.ns = Symbol();
    if (node.allocatable.empty()) node.allocatable = std::move(capacity);
    if (node.meta.uid.empty()) node.meta.uid = internal::MadeUpUid("node", node.meta);
  }
  if (o.keep_node_raw) node.raw = std::make_shared<const std::string>(j.Serialize());
  return internal::Finish(r, "Node", j, std::move(node));
}

bool Node::SchedulesLike(const Node& o) const {
  return meta.name == o.meta.name && unschedulable == o.unschedulable && labels == o.labels && taints == o.taints &&
         allocatable == o.allocatable && conditions == o.conditions && images == o.images &&
         avoid_pods == o.avoid_pods && meta.deletion_seconds == o.meta.deletion_seconds;
}

}  // namespace berth::api
