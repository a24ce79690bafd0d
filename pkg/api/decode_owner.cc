// Decodes services, the controllers that own pods, budgets, and the small kinds.
#include <algorithm>

#include "pkg/api/decode_internal.h"
#include "pkg/api/validation/value.h"

namespace berth::api {
namespace {

using internal::Is;
using internal::Path;
using internal::Reader;

// Calls f(key, path, value) for each member of the object's spec.
template <typename F>
void SpecFields(Reader& r, Json j, ObjectMeta* meta, const DecodeOptions& o, F f) {
  r.Fields({}, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "metadata")) {
      r.ReadMeta(p, v, meta);
    } else if (Is(key, "spec")) {
      r.Fields(p, v, f);
    }
  });
  if (o.server_defaults) internal::DefaultNamespace(meta);
}

// Reads the labels in the metadata of a pod template.
void ReadTemplateLabels(Reader& r, const Path& at, Json j, Labels* out) {
  r.Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    if (!Is(key, "metadata")) return;
    r.Fields(p, v, [&](std::string_view inner, const Path& q, Json w) {
      if (Is(inner, "labels")) r.Read(q, w, out);
    });
  });
}

// Returns a function that sets the labels of the template as the selector, or as the matchLabels of the selector.
internal::FillIn SelectorFromTemplate(bool match_labels) {
  return [match_labels](validation::Value* fields) {
    const validation::Value* labels = fields->At({"spec", "template", "metadata", "labels"});
    if (labels == nullptr) return;
    const validation::Value copy = *labels;
    validation::Value& spec = fields->Child("spec");
    if (match_labels) {
      spec.Child("selector").Set("matchLabels", copy);
    } else {
      spec.Set("selector", copy);
    }
  };
}

// Decodes spec.selector of ReplicaSet and StatefulSet. In the beta versions the template's labels replace a missing
// one.
template <typename T>
absl::StatusOr<std::shared_ptr<const T>> DecodeSet(std::string_view kind, Json j, const DecodeOptions& o) {
  Reader r;
  T set;
  bool selected = false;
  Labels template_labels;
  SpecFields(r, j, &set.meta, o, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "selector")) {
      selected = true;
      r.ReadLabelSelector(p, v, &set.selector);
    } else if (o.server_defaults && Is(key, "template")) {
      ReadTemplateLabels(r, p, v, &template_labels);
    }
  });
  internal::FillIn fill_in;
  if (o.server_defaults && !selected && !template_labels.empty()) {
    set.selector.selector = Selector::FromMap(template_labels);
    fill_in = SelectorFromTemplate(/*match_labels=*/true);
  }
  return internal::Finish(r, kind, j, std::move(set), fill_in);
}

template <typename T>
absl::StatusOr<std::shared_ptr<const T>> DecodeMetaOnly(std::string_view kind, Json j, const DecodeOptions& o) {
  Reader r;
  T object;
  SpecFields(r, j, &object.meta, o, [](std::string_view, const Path&, Json) {});
  return internal::Finish(r, kind, j, std::move(object));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Service>> DecodeService(Json j, const DecodeOptions& o) {
  Reader r;
  Service service;
  SpecFields(r, j, &service.meta, o, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "selector")) r.Read(p, v, &service.selector);
  });
  return internal::Finish(r, "Service", j, std::move(service));
}

absl::StatusOr<std::shared_ptr<const ReplicationController>> DecodeReplicationController(Json j,
                                                                                         const DecodeOptions& o) {
  Reader r;
  ReplicationController rc;
  Labels template_labels;
  SpecFields(r, j, &rc.meta, o, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "selector")) {
      r.Read(p, v, &rc.selector);
    } else if (o.server_defaults && Is(key, "template")) {
      ReadTemplateLabels(r, p, v, &template_labels);
    }
  });
  internal::FillIn fill_in;
  if (o.server_defaults && rc.selector.empty()) {
    rc.selector = std::move(template_labels);
    fill_in = SelectorFromTemplate(/*match_labels=*/false);
  }
  return internal::Finish(r, "ReplicationController", j, std::move(rc), fill_in);
}

absl::StatusOr<std::shared_ptr<const ReplicaSet>> DecodeReplicaSet(Json j, const DecodeOptions& o) {
  return DecodeSet<ReplicaSet>("ReplicaSet", j, o);
}
absl::StatusOr<std::shared_ptr<const StatefulSet>> DecodeStatefulSet(Json j, const DecodeOptions& o) {
  return DecodeSet<StatefulSet>("StatefulSet", j, o);
}

absl::StatusOr<std::shared_ptr<const PodDisruptionBudget>> DecodePodDisruptionBudget(Json j, const DecodeOptions& o) {
  Reader r;
  PodDisruptionBudget pdb;
  SpecFields(r, j, &pdb.meta, o, [&](std::string_view key, const Path& p, Json v) {
    if (!Is(key, "selector")) return;
    pdb.has_selector = true;
    r.ReadLabelSelector(p, v, &pdb.selector);
  });
  r.Fields({}, j, [&](std::string_view key, const Path& p, Json v) {
    if (!Is(key, "status")) return;
    r.Fields(p, v, [&](std::string_view inner, const Path& q, Json w) {
      // The name is disruptionsAllowed in policy/v1beta1 of 1.10 and in policy/v1.
      if (Is(inner, "disruptionsAllowed")) r.Read(q, w, &pdb.disruptions_allowed);
      if (Is(inner, "disruptedPods")) {
        pdb.disrupted_pods.clear();
        r.Fields(q, w, [&](std::string_view name, const Path&, Json) { pdb.disrupted_pods.emplace_back(name); });
      }
    });
  });
  std::sort(pdb.disrupted_pods.begin(), pdb.disrupted_pods.end());
  return internal::Finish(r, "PodDisruptionBudget", j, std::move(pdb));
}

absl::StatusOr<std::shared_ptr<const Namespace>> DecodeNamespace(Json j, const DecodeOptions&) {
  Reader r;
  Namespace ns;
  r.Fields({}, j, [&](std::string_view key, const Path& p, Json v) {
    if (!Is(key, "metadata")) return;
    r.ReadMeta(p, v, &ns.meta);
    r.Fields(p, v, [&](std::string_view inner, const Path& q, Json w) {
      if (Is(inner, "labels")) r.Read(q, w, &ns.labels);
    });
  });
  r.Intern(ns.meta.name);  // the object keeps it for those who name the namespace by its symbol
  return internal::Finish(r, "Namespace", j, std::move(ns));
}
absl::StatusOr<std::shared_ptr<const Deployment>> DecodeDeployment(Json j, const DecodeOptions& o) {
  return DecodeMetaOnly<Deployment>("Deployment", j, o);
}

absl::StatusOr<std::shared_ptr<const PriorityClass>> DecodePriorityClass(Json j, const DecodeOptions&) {
  Reader r;
  PriorityClass c;
  r.Fields({}, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "metadata")) {
      r.ReadMeta(p, v, &c.meta);
    } else if (Is(key, "value")) {
      r.Read(p, v, &c.value);
    }
  });
  return internal::Finish(r, "PriorityClass", j, std::move(c));
}

absl::StatusOr<std::shared_ptr<const ConfigMap>> DecodeConfigMap(Json j, const DecodeOptions& o) {
  Reader r;
  ConfigMap map;
  r.Fields({}, j, [&](std::string_view key, const Path& p, Json v) {
    if (Is(key, "metadata")) {
      r.ReadMeta(p, v, &map.meta);
    } else if (Is(key, "data")) {
      map.data.clear();
      r.Fields(p, v, [&](std::string_view name, const Path& q, Json w) {
        auto& entry = map.data.emplace_back(std::string(name), std::string());
        r.Read(q, w, &entry.second);
      });
    }
  });
  if (o.server_defaults) internal::DefaultNamespace(&map.meta);
  return internal::Finish(r, "ConfigMap", j, std::move(map));
}

}  // namespace berth::api
