#include "pkg/convert/foreign_plugins.h"

#include <algorithm>
#include <string_view>

#include "pkg/api/json_writer.h"
#include "pkg/util/suggest.h"

namespace berth::convert {
namespace {

using api::Json;

class Copier {
 public:
  Copier(const std::vector<std::string>& names, Notes* notes) : names_(names), notes_(notes) {}

  std::optional<std::string> Configuration(Json j) {
    out_.Object();
    for (auto [key, value] : j.Children()) {
      out_.Key(key);
      if (key != "profiles" || !value.IsArray()) {
        out_.Literal(value.Serialize());
        continue;
      }
      out_.Array();
      for (auto [i, profile] : value.Children()) Profile(profile);
      out_.End();
    }
    out_.End();
    if (!found_) return std::nullopt;
    return out_.Finish("json");
  }

 private:
  void Profile(Json j) {
    if (!j.IsObject()) return (void)out_.Literal(j.Serialize());
    out_.Object();
    for (auto [key, value] : j.Children()) {
      out_.Key(key);
      if (key == "pluginConfig") {
        List(value);
      } else if (key == "plugins" && value.IsObject()) {
        out_.Object();
        for (auto [point, set] : value.Children()) Set(point, set);
        out_.End();
      } else {
        out_.Literal(value.Serialize());
      }
    }
    out_.End();
  }
  void Set(std::string_view point, Json j) {
    out_.Key(point);
    if (!j.IsObject()) return (void)out_.Literal(j.Serialize());
    out_.Object();
    for (auto [key, value] : j.Children()) {
      out_.Key(key);
      List(value);
    }
    out_.End();
  }
  void List(Json j) {
    if (!j.IsArray()) return (void)out_.Literal(j.Serialize());
    out_.Array();
    for (auto [i, plugin] : j.Children()) {
      const std::string name(plugin.FindExact("name").Text());
      if (IsForeign(name)) {
        found_ = true;
        notes_->push_back({name,
                           "the release of the source has no such plugin (only a scheduler that is built with it): it "
                           "is left out, and what it does is lost"});
      } else {
        out_.Literal(plugin.Serialize());
      }
    }
    out_.End();
  }
  bool IsForeign(const std::string& name) const {
    if (name.empty() || name == "*") return false;
    return std::find(names_.begin(), names_.end(), name) == names_.end() && util::DidYouMean(name, names_).empty();
  }

  const std::vector<std::string>& names_;
  Notes* notes_;
  api::JsonWriter out_;
  bool found_ = false;
};

}  // namespace

std::optional<std::string> WithoutForeignPlugins(Json configuration, const std::vector<std::string>& names,
                                                 Notes* notes) {
  return Copier(names, notes).Configuration(configuration);
}

}  // namespace berth::convert
