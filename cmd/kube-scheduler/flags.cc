// A small imitation of pflag. A library for flags was not used, because error texts, usage text and the treatment of
// dashes must equal those of Kubernetes' programs.
#include "cmd/kube-scheduler/flags.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "cmd/kube-scheduler/go_text.h"
#include "pkg/util/help_text.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"

namespace berth::kube_scheduler {

// ---- values -------------------------------------------------------------------------------------

Flag& FlagSet::Add(Flag f) {
  f.section = section_;
  flags_.push_back(std::move(f));
  return flags_.back();
}

Flag& FlagSet::Custom(std::string name, std::string type, std::string usage, std::string default_text,
                      std::function<absl::Status(const std::string&)> set, std::function<std::string()> text) {
  Flag f;
  f.name = std::move(name);
  f.type = std::move(type);
  f.usage = std::move(usage);
  f.default_text = std::move(default_text);
  f.set = std::move(set);
  f.text = std::move(text);
  return Add(std::move(f));
}

Flag& FlagSet::String(std::string* v, std::string name, std::string usage) {
  return Custom(
      std::move(name), "string", std::move(usage), v->empty() ? "" : GoQuoted(*v),
      [v](const std::string& s) {
        *v = s;
        return absl::OkStatus();
      },
      [v] { return *v; });
}

Flag& FlagSet::Bool(bool* v, std::string name, std::string usage) {
  Flag& f = Custom(
      std::move(name), "", std::move(usage), *v ? "true" : "", [v](const std::string& s) { return ParseBool(s, v); },
      [v] { return std::string(*v ? "true" : "false"); });
  f.no_value = "true";
  return f;
}

Flag& FlagSet::Int32(int32_t* v, std::string name, std::string usage) {
  return Custom(
      std::move(name), "int32", std::move(usage), *v == 0 ? "" : absl::StrCat(*v),
      [v](const std::string& s) {
        int64_t wide = 0;
        absl::Status st = ParseInt(s, 32, &wide);
        if (st.ok()) *v = static_cast<int32_t>(wide);
        return st;
      },
      [v] { return absl::StrCat(*v); });
}

Flag& FlagSet::Float32(float* v, std::string name, std::string usage) {
  return Custom(
      std::move(name), "float32", std::move(usage), *v == 0 ? "" : FormatGoFloat32(*v),
      [v](const std::string& s) { return ParseFloat32(s, v); }, [v] { return FormatGoFloat32(*v); });
}

Flag& FlagSet::Duration(absl::Duration* v, std::string name, std::string usage) {
  return Custom(
      std::move(name), "duration", std::move(usage), *v == absl::ZeroDuration() ? "" : FormatGoDuration(*v),
      [v](const std::string& s) { return ParseGoDuration(s, v); }, [v] { return FormatGoDuration(*v); });
}

// ---- parsing ------------------------------------------------------------------------------------

std::string FlagSet::SuggestionFor(const std::string& name) const {
  std::vector<std::string_view> names;
  for (const Flag& f : flags_) names.push_back(f.name);
  return util::SuggestionFor(name, names, "--");
}

Flag* FlagSet::Lookup(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  for (Flag& f : flags_) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

Flag* FlagSet::LookupShort(char c) {
  for (Flag& f : flags_) {
    if (f.shorthand == c) return &f;
  }
  return nullptr;
}

const Flag* FlagSet::Find(std::string_view name) const {
  for (const Flag& f : flags_) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

bool FlagSet::Changed(std::string_view name) const {
  const Flag* f = Find(name);
  return f != nullptr && f->changed;
}

absl::Status FlagSet::Set(Flag& f, const std::string& value) {
  if (absl::Status s = f.set(value); !s.ok()) {
    const std::string spelled =
        f.shorthand != 0 ? absl::StrCat("-", std::string(1, f.shorthand), ", --", f.name) : absl::StrCat("--", f.name);
    return absl::InvalidArgumentError(
        absl::StrCat("invalid argument ", GoQuoted(value), " for \"", spelled, "\" flag: ", s.message()));
  }
  f.changed = true;
  if (!f.deprecated.empty())
    std::fprintf(stderr, "Flag --%s has been deprecated, %s\n", f.name.c_str(), f.deprecated.c_str());
  return absl::OkStatus();
}

absl::Status FlagSet::Parse(const std::vector<std::string>& args, std::vector<std::string>* rest) {
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& word = args[i];
    if (word.size() < 2 || word[0] != '-') {
      rest->push_back(word);
      continue;
    }
    if (word == "--") {
      rest->insert(rest->end(), args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end());
      break;
    }
    if (word[1] == '-') {
      const size_t eq = word.find('=');
      const std::string name = word.substr(2, eq == std::string::npos ? eq : eq - 2);
      if (name.empty() || name[0] == '-') return absl::InvalidArgumentError(absl::StrCat("bad flag syntax: ", word));
      Flag* f = Lookup(name);
      if (f == nullptr) return absl::InvalidArgumentError(absl::StrCat("unknown flag: --", name, SuggestionFor(name)));
      if (eq != std::string::npos) {
        BERTH_RETURN_IF_ERROR(Set(*f, word.substr(eq + 1)));
      } else if (!f->no_value.empty()) {
        BERTH_RETURN_IF_ERROR(Set(*f, f->no_value));
      } else if (i + 1 < args.size()) {
        BERTH_RETURN_IF_ERROR(Set(*f, args[++i]));
      } else {
        return absl::InvalidArgumentError(absl::StrCat("flag needs an argument: ", word));
      }
      continue;
    }
    // Short flags may be written together: -hv2.
    for (size_t at = 1; at < word.size();) {
      const char c = word[at];
      Flag* f = LookupShort(c);
      if (f == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat("unknown shorthand flag: '", std::string(1, c), "' in -", word.substr(at)));
      }
      if (at + 1 < word.size() && word[at + 1] == '=') {
        BERTH_RETURN_IF_ERROR(Set(*f, word.substr(at + 2)));
        break;
      }
      if (!f->no_value.empty()) {
        BERTH_RETURN_IF_ERROR(Set(*f, f->no_value));
        ++at;
        continue;
      }
      if (at + 1 < word.size()) {
        BERTH_RETURN_IF_ERROR(Set(*f, word.substr(at + 1)));
      } else if (i + 1 < args.size()) {
        BERTH_RETURN_IF_ERROR(Set(*f, args[++i]));
      } else {
        return absl::InvalidArgumentError(absl::StrCat("flag needs an argument: '", std::string(1, c), "' in ", word));
      }
      break;
    }
  }
  return absl::OkStatus();
}

// ---- help ---------------------------------------------------------------------------------------

std::vector<const Flag*> FlagSet::Sorted() const {
  std::vector<const Flag*> out;
  for (const Flag& f : flags_) out.push_back(&f);
  std::sort(out.begin(), out.end(), [](const Flag* a, const Flag* b) { return a->name < b->name; });
  return out;
}

std::string FlagSet::Usage(const std::function<bool(util::HelpEntry*)>& edit) const {
  std::vector<std::string> sections;
  std::map<std::string, std::vector<util::HelpEntry>> by_section;
  for (const Flag& f : flags_) {
    if (std::find(sections.begin(), sections.end(), f.section) == sections.end()) sections.push_back(f.section);
  }
  for (const Flag* f : Sorted()) {
    if (!f->deprecated.empty()) continue;
    util::HelpEntry entry = {f->shorthand, f->name, f->type, f->usage, f->default_text};
    if (!edit || edit(&entry)) by_section[f->section].push_back(std::move(entry));
  }
  std::string out;
  for (const std::string& section : sections) {
    if (by_section[section].empty()) continue;
    absl::StrAppend(&out, out.empty() ? "" : "\n", section, ":\n", util::HelpOf(by_section[section]));
  }
  return out;
}

std::string WithHelp(std::string_view message) {
  return absl::StrCat(util::ToAbsl(message), ". 'kube-scheduler --help' lists the flags.");
}

}  // namespace berth::kube_scheduler
