#include "pkg/scheduler/algorithm/arguments.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/util/status.h"
#include "pkg/util/suggest.h"

namespace berth::scheduler {

Arguments::Arguments(const PluginFactoryArgs& args) : args_(args) {
  // The Policy that contains the text has already been parsed, so that only the type of the value can be wrong here.
  const absl::Status parsed = document_.Parse(args.arguments.empty() ? "{}" : std::string_view(args.arguments));
  if (args_.problems == nullptr) return;
  if (!parsed.ok()) {
    args_.problems->push_back(util::Message(parsed));
  } else if (!document_.root().IsObject() && !document_.root().IsNull()) {
    args_.problems->push_back(absl::StrCat(document_.root().Brief(), ": must be an object"));
  }
}

api::Json Arguments::Find(std::string_view name) {
  names_.emplace_back(name);
  return document_.root().FindExact(name);
}

void Arguments::Report(std::string_view name, const api::Json& value, std::string_view right) {
  if (args_.problems == nullptr) return;
  args_.problems->push_back(absl::StrCat(util::ToAbsl(name), ": ", value.Brief(), ": must be ", util::ToAbsl(right)));
}

int64_t Arguments::Integer(std::string_view name, int64_t otherwise, int64_t min, int64_t max) {
  const api::Json value = Find(name);
  if (value.IsNull()) return otherwise;
  if (value.IsInt() && value.Int() >= min && value.Int() <= max) return value.Int();
  Report(name, value, absl::StrCat("a whole number from ", min, " to ", max));
  return otherwise;
}

bool Arguments::Boolean(std::string_view name, bool otherwise) {
  const api::Json value = Find(name);
  if (value.IsNull()) return otherwise;
  if (value.IsBool()) return value.Bool();
  Report(name, value, "true or false");
  return otherwise;
}

std::string Arguments::Text(std::string_view name, std::string otherwise) {
  const api::Json value = Find(name);
  if (value.IsNull()) return otherwise;
  if (value.IsString() && !value.Text().empty()) return std::string(value.Text());
  Report(name, value, "a text that is not empty");
  return otherwise;
}

void Arguments::Finish() {
  if (args_.problems == nullptr || !document_.root().IsObject()) return;
  for (const auto& [name, value] : document_.root().Children()) {
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) continue;
    args_.problems->push_back(
        absl::StrCat(util::ToAbsl(name), ": there is no such argument", util::SuggestionFor(name, names_)));
  }
}

}  // namespace berth::scheduler
