// The words are split here rather than by Boost's parser, because texts and the treatment of dashes must equal those of
// Kubernetes' programs. Boost stores and converts the values.
#include "pkg/flags/flag_set.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <boost/make_shared.hpp>
#include <cstdio>

#include "pkg/flags/help_text.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"

namespace berth::flags {
namespace {

// Returns what a value must be that Boost converts to a number.
std::string WantOf(const po::value_semantic& value) {
  const auto* typed = dynamic_cast<const po::typed_value_base*>(&value);
  if (typed == nullptr) return {};
  const std::type_info& type = typed->value_type();
  if (type == typeid(int32_t)) return "must be a whole number of 32 bits";
  if (type == typeid(int64_t) || type == typeid(uint64_t)) return "must be a whole number of 64 bits";
  return type == typeid(double) ? "must be a number" : "";
}

absl::Status InvalidText(std::string_view flag, std::string_view value, std::string_view want) {
  return util::InvalidArgument(
      absl::StrCat("--", util::ToAbsl(flag), ": invalid value ", util::ToAbsl(value), ": ", util::ToAbsl(want)));
}

}  // namespace

absl::Status InvalidValue(std::string_view flag, std::string_view value, std::string_view want) {
  return InvalidText(flag, util::GoQuoted(value), want);
}

absl::Status InvalidValue(std::string_view flag, int64_t value, std::string_view want) {
  return InvalidText(flag, std::to_string(value), want);
}

std::string Choices(const std::vector<std::string>& choices) {
  std::string out;
  for (size_t i = 0; i < choices.size(); ++i) {
    absl::StrAppend(&out, i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ", choices[i]);
  }
  return out;
}

std::string MustBe(const std::vector<std::string>& choices) {
  return "must be " + Choices(choices);
}

std::string HelpHint(std::string_view program) {
  return absl::StrCat("Run ", util::ToAbsl(program), " --help for usage.");
}

Value::Value(std::string type, std::string otherwise, Set set, std::function<std::string()> text)
    : type_(std::move(type)), otherwise_(std::move(otherwise)), set_(std::move(set)), text_(std::move(text)) {}

Value* Value::WithoutValue(std::string value) {
  no_value_ = std::move(value);
  return this;
}

Value* Value::Deprecated(std::string notice) {
  deprecated_ = std::move(notice);
  return this;
}

std::string Value::name() const {
  return otherwise_.empty() ? type_ : absl::StrCat(type_, " (=", otherwise_, ")");
}

void Value::parse(boost::any& store, const std::vector<std::string>& values, bool /*utf8*/) const {
  const std::string& value = values.empty() ? *no_value_ : values[0];
  if (absl::Status s = set_(value); !s.ok()) {
    throw po::error(
        absl::StrCat("invalid argument ", util::GoQuoted(value), " for \"", spelled_, "\" flag: ", s.message()));
  }
  store = value;
  if (deprecated_.empty()) return;
  std::fprintf(stderr, "Flag --%s has been deprecated, %s\n", long_name_.c_str(), deprecated_.c_str());
}

FlagSet& FlagSet::operator()(const std::string& names, po::value_semantic* value, const std::string& purpose) {
  const auto option = boost::make_shared<po::option_description>(names.c_str(), value, purpose.c_str());
  options_.add(option);
  Flag& f = flags_.emplace_back();
  f.name = option->long_name();
  if (names.size() > f.name.size()) f.shorthand = names.back();
  f.value = option->format_parameter();  // "FORMAT", or "FORMAT (=table)"
  if (const size_t at = f.value.find(" (="); at != std::string::npos) {
    f.otherwise = f.value.substr(at + 3, f.value.size() - at - 4);
    f.value.resize(at);
  }
  f.purpose = purpose;
  f.section = section_;
  f.least = value->min_tokens();
  f.most = value->max_tokens();
  f.want = WantOf(*value);
  if (auto* own = dynamic_cast<Value*>(value)) {
    f.own = own;
    f.deprecated = !own->deprecated_.empty();
    own->long_name_ = f.name;
    own->spelled_ =
        absl::StrCat(f.shorthand == 0 ? "" : absl::StrCat("-", std::string(1, f.shorthand), ", "), "--", f.name);
  }
  return *this;
}

std::vector<const Flag*> FlagSet::Listed() const {
  std::vector<const Flag*> out;
  for (const Flag& f : flags_) out.push_back(&f);
  if (order_ == Order::kByName) {
    std::sort(out.begin(), out.end(), [](const Flag* a, const Flag* b) { return a->name < b->name; });
  }
  return out;
}

const Flag* FlagSet::Find(std::string_view name) const {
  const auto found = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& f) { return f.name == name; });
  return found == flags_.end() ? nullptr : &*found;
}

bool FlagSet::Changed(std::string_view name) const {
  const auto found = values_.find(std::string(name));
  return found != values_.end() && !found->second.defaulted();
}

absl::StatusOr<const Flag*> FlagSet::Named(std::string name) const {
  const std::string spelled = name;
  std::replace(name.begin(), name.end(), '_', '-');
  if (const Flag* f = Find(name)) return f;
  std::vector<std::string_view> names;
  for (const Flag& f : flags_) names.push_back(f.name);
  return util::InvalidArgument(absl::StrCat("unknown flag: --", spelled, util::SuggestionFor(spelled, names, "--")));
}

absl::Status FlagSet::Split(const std::vector<std::string>& words, std::vector<po::option>* out) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto is_flag = [](const std::string& w) { return w.size() > 1 && w[0] == '-'; };
    // Takes a flag whose value may stand behind it in the same word, or else in the next one.
    const auto take = [&](const Flag& f, std::optional<std::string> value, const std::string& spelled) {
      if (value && f.most == 0) {
        return util::InvalidArgument(absl::StrCat("flag takes no argument: --", f.name));
      }
      const bool empty = value && value->empty() && f.own == nullptr;
      if (empty || (!value && f.least > 0 && i + 1 == words.size())) {
        return util::InvalidArgument(absl::StrCat("flag needs an argument: ", spelled));
      }
      if (!value && f.least > 0) value = words[++i];
      po::option& option = out->emplace_back();
      option.string_key = f.name;
      if (value) option.value = {*value};
      while (f.most > 1 && i + 1 < words.size() && !is_flag(words[i + 1])) option.value.push_back(words[++i]);
      return absl::OkStatus();
    };
    if (!is_flag(word)) {
      words_.push_back(word);
      continue;
    }
    if (word == "--") {
      words_.insert(words_.end(), words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    if (word[1] == '-') {
      const size_t eq = word.find('=');
      const std::string name = word.substr(2, eq == std::string::npos ? eq : eq - 2);
      if (name.empty() || name[0] == '-') return util::InvalidArgument(absl::StrCat("bad flag syntax: ", word));
      const auto f = Named(name);
      if (!f.ok()) return f.status();
      const auto value = eq == std::string::npos ? std::nullopt : std::optional(word.substr(eq + 1));
      BERTH_RETURN_IF_ERROR(take(**f, value, word));
      continue;
    }
    for (size_t at = 1; at < word.size(); ++at) {
      const std::string c(1, word[at]);
      const auto f = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& g) { return g.shorthand == c[0]; });
      if (f == flags_.end()) {
        return util::InvalidArgument(absl::StrCat("unknown shorthand flag: '", c, "' in -", word.substr(at)));
      }
      std::optional<std::string> value;
      const std::string behind = word.substr(at + 1);
      if (behind.starts_with('=')) {
        value = behind.substr(1);
      } else if (f->least > 0 && !behind.empty()) {
        value = behind;
      }
      BERTH_RETURN_IF_ERROR(take(*f, value, absl::StrCat("'", c, "' in ", word)));
      if (value) break;
    }
  }
  return absl::OkStatus();
}

absl::Status FlagSet::Read(const std::vector<std::string>& words, std::string_view first) {
  po::parsed_options read(&options_, po::command_line_style::allow_long);
  const absl::Status mistake = Split(words, &read.options);
  for (const po::option& option : read.options) {
    for (const std::string& value : option.value) given_.emplace_back(option.string_key, value);
  }
  std::stable_partition(read.options.begin(), read.options.end(),
                        [&](const po::option& option) { return option.string_key == first; });
  try {
    po::store(read, values_);
  } catch (const po::validation_error& e) {
    const std::string option = e.get_option_name();  // "--name"
    return NotConverted(option.substr(std::min(option.find_first_not_of('-'), option.size())));
  } catch (const po::error& e) {
    return util::InvalidArgument(e.what());
  }
  return mistake;
}

// A flag that takes a number is there once only, so the value that could not be converted is its first one.
absl::Status FlagSet::NotConverted(const std::string& name) const {
  const auto given = std::find_if(given_.begin(), given_.end(), [&](const auto& g) { return g.first == name; });
  const Flag* f = Find(name);
  BERTH_REQUIRES(f != nullptr && given != given_.end());
  return InvalidValue(name, given->second, f->want);
}

std::string FlagSet::Help(const std::function<bool(Flag*)>& edit) const {
  std::vector<std::pair<std::string, std::vector<Flag>>> sections;
  const auto section = [&](const std::string& title) -> std::vector<Flag>& {
    for (auto& [name, flags] : sections) {
      if (name == title) return flags;
    }
    return sections.emplace_back(title, std::vector<Flag>()).second;
  };
  for (const Flag& f : flags_) section(f.section);
  for (const Flag* f : Listed()) {
    Flag shown = *f;
    if (!f->deprecated && (!edit || edit(&shown))) section(f->section).push_back(std::move(shown));
  }
  std::string out;
  for (const auto& [title, flags] : sections) {
    if (flags.empty()) continue;
    absl::StrAppend(&out, out.empty() ? "" : "\n", title, ":\n");
    for (const Flag& f : flags) out += HelpOf(f);
  }
  return out;
}

}  // namespace berth::flags
