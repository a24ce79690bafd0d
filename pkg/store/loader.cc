// Documents are read one object at a time, so a large list is never held as a tree. Elements of a list may lack a kind;
// they wait in `kindless_` until the list's own kind, which may come after its items, has been read.
#include "pkg/store/loader.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "pkg/api/input_text.h"
#include "pkg/api/stream.h"
#include "pkg/util/status.h"

namespace berth::apiserver {
namespace {

class Loader final : public api::JsonSink {
 public:
  Loader(Registry* registry, LoadReport* report) : registry_(registry), report_(report) {}

  bool Split(std::string_view inside, std::string_view key) override {
    return (inside.empty() && (key == "items" || key == "pods")) || (inside == "cluster" && key == "items");
  }

  absl::Status Element(std::string_view /*inside*/, std::string_view key, api::Document& element) override {
    ++element_;
    apiserver::Value v = FromJson(element.root());
    if (!v.IsObject()) {
      return util::InvalidArgument(absl::StrCat("element ", element_, " of ", std::string(key),
                                                ": must be an object, not ", ToJson(v).substr(0, 60)));
    }
    if (v.Str("kind").empty() && key == "pods") v.Set("kind", apiserver::Value::String("Pod"));
    if (v.Str("kind").empty()) {
      kindless_.push_back(std::move(v));  // the enclosing list tells the kind, possibly at its end
      return absl::OkStatus();
    }
    return Store(std::move(v), true);
  }

  absl::Status Value(api::Document& rest) override {
    apiserver::Value v = FromJson(rest.root());
    if (!v.IsObject()) return util::InvalidArgument(absl::StrCat("must be an object, not ", ToJson(v).substr(0, 60)));
    std::string kind(v.Str("kind"));
    bool list = kind.ends_with("List");
    auto waiting = std::move(kindless_);
    kindless_.clear();
    element_ = 0;
    for (apiserver::Value& e : waiting) {
      if (!list || kind == "List") {
        return util::InvalidArgument(absl::StrCat("an element of items has no kind, and ",
                                                  kind.empty() ? "the document has none" : kind + " does not tell it"));
      }
      e.Set("kind", apiserver::Value::String(kind.substr(0, kind.size() - 4)));
      if (e.Str("apiVersion").empty()) e.Set("apiVersion", apiserver::Value::String(v.Str("apiVersion")));
      BERTH_RETURN_IF_ERROR(Store(std::move(e), true));
    }
    if (list || kind == "Scenario") return absl::OkStatus();
    if (kind.empty()) return util::InvalidArgument("a document without kind");
    // Admission looks up classes and limits, which may come later in the text.
    if (kind == "Pod" || kind == "PersistentVolumeClaim") {
      loose_.push_back(std::move(v));
      return absl::OkStatus();
    }
    return Store(std::move(v), false);
  }

  // Stores what waits for the end of the text.
  absl::Status Finish() {
    for (apiserver::Value& v : std::exchange(loose_, {})) BERTH_RETURN_IF_ERROR(Store(std::move(v), false));
    return absl::OkStatus();
  }

 private:
  absl::Status Store(apiserver::Value v, bool verbatim) {
    const std::string kind(v.Str("kind"));
    const auto stored = LoadObject(std::move(v), verbatim, registry_);
    if (!stored.ok()) return stored.status();
    if (*stored) {
      ++report_->objects;
    } else {
      ++report_->skipped[kind];
    }
    return absl::OkStatus();
  }

  Registry* registry_;
  LoadReport* report_;
  std::vector<apiserver::Value> kindless_, loose_;
  size_t element_ = 0;
};

}  // namespace

// Decoding checks the types of all fields even if the object is then stored verbatim.
absl::StatusOr<bool> LoadObject(Value object, bool verbatim, Registry* registry) {
  const std::string kind(object.Str("kind"));
  std::string version(object.Str("apiVersion"));
  if (version.empty()) version = "v1";
  const ResourceInfo* r = registry->catalog().FindKind(version, kind);
  if (r == nullptr) return false;
  size_t at = 0;
  while (r->versions[at].Text() != version) ++at;
  std::string name;
  if (const Value* meta = object.Find("metadata")) {
    name = meta->Str("name");
    if (!meta->Str("namespace").empty()) name = absl::StrCat(std::string(meta->Str("namespace")), "/", name);
  }
  auto decoded = Decode(object, *r->type, r->versions[at].version, "");
  std::optional<std::string> why;
  if (!decoded.ok()) {
    why = util::Message(decoded.status());
  } else {
    why = registry->Load(*r, at, verbatim ? std::move(object) : *std::move(decoded), verbatim);
  }
  if (why.has_value()) return util::InvalidArgument(absl::StrCat(kind, " ", GoQuoted(name), ": ", *why));
  return true;
}

absl::StatusOr<LoadReport> LoadText(std::string_view name, std::string_view text, Registry* registry) {
  LoadReport report;
  Loader loader(registry, &report);
  absl::Status s = api::ReadDocuments(text, loader);
  if (s.ok()) s = loader.Finish();
  if (!s.ok()) return util::InvalidArgument(absl::StrCat(std::string(name), ": ", util::Message(s)));
  return report;
}

absl::StatusOr<LoadReport> LoadFile(const std::string& path, Registry* registry) {
  auto text = api::InputText::Open(path);
  if (!text.ok()) return text.status();
  return LoadText(path, text->text(), registry);
}

}  // namespace berth::apiserver
