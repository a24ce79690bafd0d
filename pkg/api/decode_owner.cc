// Reads services, the controllers that own pods, budgets, and the small kinds.
#include <algorithm>

#include "pkg/api/decode_internal.h"
#include "pkg/api/validation/value.h"

namespace berth::api::internal {
namespace {

// The member with the labels of a pod template, which under server defaults may stand for a missing selector.
auto TemplateLabels(Reader& r, Labels* out) {
  return Member("template", [&r, out](const Path& p, Json v) {
    if (r.options().server_defaults) r.Members(p, v, Member("metadata", Member("labels", out)));
  });
}

// Returns a function that sets the labels of the template as the selector, or as the matchLabels of the selector.
FillIn SelectorFromTemplate(bool match_labels) {
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

// Reads spec.selector of ReplicaSet and StatefulSet. In the beta versions the template's labels replace a missing one.
template <typename T>
void ReadSet(Reader& r, const Path& at, Json j, T* out) {
  bool selected = false;
  Labels template_labels;
  r.Members(at, j, Member("metadata", &out->meta),
            Member("spec", Member("selector", Given{&selected}, &out->selector), TemplateLabels(r, &template_labels)));
  if (r.options().server_defaults && !selected && !template_labels.empty()) {
    out->selector.selector = Selector::FromMap(template_labels);
    r.fill_in = SelectorFromTemplate(/*match_labels=*/true);
  }
}

}  // namespace

void Read(Reader& r, const Path& at, Json j, Service* out) {
  r.Members(at, j, Member("metadata", &out->meta), Member("spec", Member("selector", &out->selector)));
}

void Read(Reader& r, const Path& at, Json j, ReplicationController* out) {
  Labels template_labels;
  r.Members(at, j, Member("metadata", &out->meta),
            Member("spec", Member("selector", &out->selector), TemplateLabels(r, &template_labels)));
  if (r.options().server_defaults && out->selector.empty()) {
    out->selector = std::move(template_labels);
    r.fill_in = SelectorFromTemplate(/*match_labels=*/false);
  }
}

void Read(Reader& r, const Path& at, Json j, ReplicaSet* out) {
  ReadSet(r, at, j, out);
}
void Read(Reader& r, const Path& at, Json j, StatefulSet* out) {
  ReadSet(r, at, j, out);
}

void Read(Reader& r, const Path& at, Json j, PodDisruptionBudget* out) {
  const auto disrupted = [&](const Path& p, Json v) {
    out->disrupted_pods.clear();
    r.Fields(p, v, [&](std::string_view name, const Path&, Json) { out->disrupted_pods.emplace_back(name); });
  };
  r.Members(at, j, Member("metadata", &out->meta),
            Member("spec", Member("selector", Given{&out->has_selector}, &out->selector)));
  // The name is disruptionsAllowed in policy/v1beta1 of 1.10 and in policy/v1.
  r.Members(
      at, j,
      Member("status", Member("disruptionsAllowed", &out->disruptions_allowed), Member("disruptedPods", disrupted)));
  std::sort(out->disrupted_pods.begin(), out->disrupted_pods.end());
}

void Read(Reader& r, const Path& at, Json j, Namespace* out) {
  r.Members(at, j, Member("metadata", &out->meta, Member("labels", &out->labels)));
  r.Intern(out->meta.name);  // the object keeps it for those who name the namespace by its symbol
}

// The spec only has to be an object.
void Read(Reader& r, const Path& at, Json j, Deployment* out) {
  r.Members(at, j, Member("metadata", &out->meta), Member("spec", Rest([](const Path&, Json) {})));
}

void Read(Reader& r, const Path& at, Json j, PriorityClass* out) {
  r.Members(at, j, Member("metadata", &out->meta), Member("value", &out->value));
}

void Read(Reader& r, const Path& at, Json j, ConfigMap* out) {
  r.Members(at, j, Member("metadata", &out->meta), Member("data", [&](const Path& p, Json v) {
              out->data.clear();
              r.Fields(p, v, [&](std::string_view name, const Path& q, Json w) {
                Read(r, q, w, &out->data.emplace_back(std::string(name), std::string()).second);
              });
            }));
}

}  // namespace berth::api::internal
