#include "pkg/scheduler/policy/decode.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "pkg/api/line_column.h"
#include "pkg/api/stream.h"
#include "pkg/api/strict_error.h"
#include "pkg/release/history.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"

namespace berth::scheduler {
namespace {

using api::Json;

// The members of a Policy that lead to types with names, for the words of the strict decoder.
constexpr api::GoMember kPolicyGoMembers[] = {
    {"predicates", "Predicates", "v1.PredicatePolicy", true},
    {"priorities", "Priorities", "v1.PriorityPolicy", true},
    {"serviceAffinity", "ServiceAffinity", "v1.ServiceAffinity"},
    {"labelsPresence", "LabelsPresence", "v1.LabelsPresence"},
    {"serviceAntiAffinity", "ServiceAntiAffinity", "v1.ServiceAntiAffinity"},
    {"labelPreference", "LabelPreference", "v1.LabelPreference"},
    {"requestedToCapacityRatioArguments", "RequestedToCapacityRatioArguments", "v1.RequestedToCapacityRatioArguments"},
    {"shape", "Shape", "v1.UtilizationShapePoint", true},
    {"resources", "Resources", "v1.ResourceSpec", true},
};

// Reads one Policy and collects all errors and warnings. Members are matched regardless of their letter case, as Go's
// decoder for JSON does, unless the release is strict; `later` spellings matter for warnings only.
class Reader {
 public:
  Reader(std::string_view text, release::Version release, std::vector<std::string>* warnings)
      : has_text_(!text.empty()), places_(text), release_(release), warnings_(warnings) {}

  void Read(Json j, Policy* out) {
    root_ = j;
    std::string kind, version;
    if (!j.IsObject()) Fail(j, "", "a Policy is a JSON object");
    if (j.IsObject()) {
      Members(j, "",
              {{"kind", [&](Json v, const std::string& p) { return String(v, p, &kind); }},
               {"apiVersion", [&](Json v, const std::string& p) { return String(v, p, &version); }},
               {"metadata", [](Json, const std::string&) {}},
               {"predicates", [&](Json v, const std::string& p) { return List(v, p, &out->predicates); }},
               {"priorities", [&](Json v, const std::string& p) { return List(v, p, &out->priorities); }},
               {"extenders",
                [&](Json v, const std::string& p) {
                  std::optional<std::vector<ExtenderConfig>> list;
                  List(v, p, &list);
                  out->extenders = list.value_or(std::vector<ExtenderConfig>());
                }},
               {"hardPodAffinitySymmetricWeight",
                [&](Json v, const std::string& p) { return Int(v, p, &out->hard_pod_affinity_symmetric_weight); }},
               {"alwaysCheckAllPredicates",
                [&](Json v, const std::string& p) { return Bool(v, p, &out->always_check_all_predicates); }}});
    }
    if ((!kind.empty() && kind != "Policy") || (!version.empty() && version != "v1")) {
      errors_.push_back(absl::StrCat("no kind \"", kind.empty() ? "Policy" : kind, "\" is registered for version \"",
                                     version.empty() ? "v1" : version, "\""));
    }
  }

  const std::vector<std::string>& errors() const { return errors_; }

 private:
  // A member of an object: its name in 1.10 and how to read it.
  struct Field {
    std::string_view name;
    std::function<void(Json, const std::string&)> read;
    std::string_view new_name = {};  // the spelling of newer releases, if it differs
  };

  // Returns "line N, column N: " for the value, or an empty text if the text of the document is not known.
  std::string Where(Json v) { return has_text_ ? absl::StrCat(places_.At(v.begin_offset()), ": ") : ""; }
  // Adds an error and returns false, so that callers can return its result.
  bool Fail(Json v, const std::string& path, std::string_view right) {
    errors_.push_back(absl::StrCat(Where(v), path, path.empty() ? "" : ": ", v.Brief(), ": ", util::ToAbsl(right)));
    return false;
  }
  void Warn(Json v, std::string text) {
    if (warnings_ != nullptr) warnings_->push_back(Where(v) + std::move(text));
  }

  // Returns whether the release knows a member, and warns that it is ignored if it does not.
  bool Knows(Json v, const std::string& path, const release::Span& span) {
    if (release_.minor == 0 || span.Has(release_)) return true;
    Warn(v, absl::StrCat(path, ": a field of ", release::NameOf(span.since), " or later, ignored"));
    return false;
  }
  // Adds an error of a strict decoder.
  void Refuse(Json v, const std::string& path, const std::string& hint) {
    errors_.push_back(absl::StrCat(
        "strict decoder error for the Policy: ", api::UnknownMemberError(root_, path, "v1.Policy", kPolicyGoMembers),
        " (", Where(v), path, hint.empty() ? "" : "; ", hint, ")"));
  }

  void RefuseSecond(Json v, const std::string& path, std::string_view key) {
    const std::string where = Where(v);
    errors_.push_back(
        absl::StrCat("strict decoder error for the Policy: error converting YAML to JSON: yaml: unmarshal errors:\n  ",
                     where.empty() ? "" : absl::StrCat(where.substr(0, where.find(',')), ": "), "key ",
                     util::GoQuoted(key), " already set in map (", where, path, ")"));
  }

  // Reads the members of an object. If `open`, unknown members may belong to a plugin and are no mistake.
  void Members(Json j, const std::string& path, const std::vector<Field>& fields, bool open = false) {
    if (j.IsNull()) return;
    if (!j.IsObject()) return (void)Fail(j, path, "an object is needed here");
    const bool strict = release::history::kStrictPolicies.Has(release_) && !lenient_;
    std::set<std::string_view> seen, exact;
    for (auto [key, value] : j.Children()) {
      const Field* field = nullptr;
      for (const Field& f : fields) {
        if (strict ? f.name == key : absl::EqualsIgnoreCase(util::ToAbsl(f.name), util::ToAbsl(key))) field = &f;
      }
      std::string full = path.empty() ? std::string(key) : absl::StrCat(path, ".", util::ToAbsl(key));
      if (field == nullptr && open) continue;
      if (field == nullptr) {
        std::vector<std::string_view> names;
        for (const Field& f : fields) names.push_back(f.name);
        if (strict) {
          Refuse(value, full, util::DidYouMean(key, names));
        } else {
          Warn(value, absl::StrCat(full, ": unknown field, ignored", util::SuggestionFor(key, names)));
        }
        continue;
      }
      if (release::history::kStrictPolicies.Has(release_) && !exact.insert(key).second) {
        RefuseSecond(value, full, key);
      } else if (!seen.insert(field->name).second) {
        Warn(value, absl::StrCat(full, ": given more than once, the last one counts"));
      }
      if (key != field->name && key != field->new_name) {
        std::string_view right = field->new_name.empty() ? field->name : field->new_name;
        Warn(value, absl::StrCat(full, ": later releases know this only as \"", util::ToAbsl(right), "\""));
      }
      if (value.IsNull()) continue;
      field->read(value, full);
    }
  }

  // These read a value and return whether that was possible.
  bool String(Json v, const std::string& path, std::string* out) {
    if (!v.IsString()) return Fail(v, path, "a string is needed here");
    *out = v.Text();
    return true;
  }
  bool Bool(Json v, const std::string& path, bool* out) {
    if (!v.IsBool()) return Fail(v, path, "true or false is needed here");
    *out = v.Bool();
    return true;
  }
  bool Int(Json v, const std::string& path, int64_t* out) {
    if (!v.IsInt()) return Fail(v, path, "a whole number is needed here, without quotes");
    *out = v.Int();
    return true;
  }
  void Strings(Json v, const std::string& path, std::vector<std::string>* out) {
    if (!v.IsArray()) return (void)Fail(v, path, "a list of strings is needed here");
    out->clear();
    for (auto [key, element] : v.Children()) {
      std::string at = absl::StrCat(path, "[", out->size(), "]");
      String(element, at, &out->emplace_back());
    }
  }
  void Base64(Json v, const std::string& path, std::string* out) {
    std::string text;
    if (!v.IsString()) return (void)Fail(v, path, "a string is needed here");
    text = v.Text();
    if (!absl::Base64Unescape(text, out)) Fail(v, path, "base64 is needed here");
  }
  template <typename T>
  void List(Json v, const std::string& path, std::optional<std::vector<T>>* out) {
    if (!v.IsArray()) return (void)Fail(v, path, "a list is needed here");
    out->emplace();
    for (auto [key, element] : v.Children()) {
      std::string at = absl::StrCat(path, "[", (*out)->size(), "]");
      Entry(element, at, &(*out)->emplace_back());
    }
  }

  // An error must neither cause others nor hide others. So a value that could not be read is replaced by one that later
  // checks accept, and an entry without a readable name keeps an empty one, so that later checks skip it.
  void Entry(Json j, const std::string& path, PredicatePolicy* out) {
    return Members(
        j, path,
        {{"name", [&](Json v, const std::string& p) { return String(v, p, &out->name); }},
         {"argument", [&](Json v, const std::string& p) {
            const size_t before = errors_.size();
            auto& a = out->argument.emplace();
            a.json = v.Serialize();
            Members(v, p,
                    {{"serviceAffinity",
                      [&](Json w, const std::string& q) {
                        auto& s = a.service_affinity.emplace();
                        return Members(
                            w, q, {{"labels", [&](Json x, const std::string& r) { return Strings(x, r, &s.labels); }}});
                      }},
                     {"labelsPresence",
                      [&](Json w, const std::string& q) {
                        auto& s = a.labels_presence.emplace(PredicatePolicy::Argument::LabelsPresence{});
                        return Members(
                            w, q,
                            {{"labels", [&](Json x, const std::string& r) { return Strings(x, r, &s.labels); }},
                             {"presence", [&](Json x, const std::string& r) { return Bool(x, r, &s.presence); }}});
                      }}},
                    /*open=*/true);
            if (errors_.size() == before) return;
            out->argument.emplace()
                .labels_presence.emplace(PredicatePolicy::Argument::LabelsPresence{})
                .labels.push_back(kUnread);
          }}});
  }

  void Entry(Json j, const std::string& path, PriorityPolicy* out) {
    return Members(
        j, path,
        {{"name", [&](Json v, const std::string& p) { return String(v, p, &out->name); }},
         {"weight", [&](Json v, const std::string& p) { out->weight = Int(v, p, &out->weight) ? out->weight : 1; }},
         {"argument", [&](Json v, const std::string& p) {
            const size_t before = errors_.size();
            auto& a = out->argument.emplace();
            a.json = v.Serialize();
            Members(v, p,
                    {{"requestedToCapacityRatioArguments",
                      [&](Json w, const std::string& q) {
                        if (Knows(w, q, release::history::kRatioArguments))
                          Ratio(w, q, &a.requested_to_capacity_ratio.emplace());
                      }},
                     {"serviceAntiAffinity",
                      [&](Json w, const std::string& q) {
                        auto& s = a.service_anti_affinity.emplace();
                        return Members(
                            w, q, {{"label", [&](Json x, const std::string& r) { return String(x, r, &s.label); }}});
                      }},
                     {"labelPreference",
                      [&](Json w, const std::string& q) {
                        auto& s = a.label_preference.emplace(PriorityPolicy::Argument::LabelPreference{});
                        return Members(
                            w, q,
                            {{"label", [&](Json x, const std::string& r) { return String(x, r, &s.label); }},
                             {"presence", [&](Json x, const std::string& r) { return Bool(x, r, &s.presence); }}});
                      }}},
                    /*open=*/true);
            if (errors_.size() == before) return;
            out->argument.emplace().label_preference.emplace(PriorityPolicy::Argument::LabelPreference{}).label =
                kUnread;
          }}});
  }

  using RatioArguments = PriorityPolicy::Argument::RequestedToCapacityRatio;
  void Ratio(Json j, const std::string& path, RatioArguments* out) {
    std::optional<std::vector<RatioArguments::Point>> shape;
    std::optional<std::vector<RatioArguments::Resource>> resources;
    Members(j, path,
            {{"shape", [&](Json v, const std::string& p) { List(v, p, &shape); }},
             {"resources", [&](Json v, const std::string& p) { List(v, p, &resources); }}});
    if (shape) out->shape = *std::move(shape);
    if (resources) out->resources = *std::move(resources);
  }
  void Entry(Json j, const std::string& path, RatioArguments::Point* out) {
    Members(j, path,
            {{"utilization", [&](Json v, const std::string& p) { Int(v, p, &out->utilization); }},
             {"score", [&](Json v, const std::string& p) { Int(v, p, &out->score); }}});
  }
  void Entry(Json j, const std::string& path, RatioArguments::Resource* out) {
    Members(j, path,
            {{"name", [&](Json v, const std::string& p) { String(v, p, &out->name); }},
             {"weight", [&](Json v, const std::string& p) { Int(v, p, &out->weight); }}});
    // As in later releases, a weight of 0 counts as 1.
    if (out->weight == 0) out->weight = 1;
  }

  void Entry(Json j, const std::string& path, ExtenderManagedResource* out) {
    if (!j.IsObject()) out->name = UnreadResource();
    return Members(
        j, path,
        {{"name",
          [&](Json v, const std::string& p) {
            if (!String(v, p, &out->name)) out->name = UnreadResource();
          }},
         {"ignoredByScheduler", [&](Json v, const std::string& p) { return Bool(v, p, &out->ignored_by_scheduler); }}});
  }

  // Returns a valid name of an extended resource that is different from all others, because duplicates are errors.
  std::string UnreadResource() { return absl::StrCat(kUnread, "/", errors_.size()); }

  void Tls(Json j, const std::string& path, ExtenderTls* out) {
    const size_t before = errors_.size();
    Members(
        j, path,
        {{"Insecure", [&](Json v, const std::string& p) { return Bool(v, p, &out->insecure); }, "insecure"},
         {"ServerName", [&](Json v, const std::string& p) { return String(v, p, &out->server_name); }, "serverName"},
         {"CertFile", [&](Json v, const std::string& p) { return String(v, p, &out->cert_file); }, "certFile"},
         {"KeyFile", [&](Json v, const std::string& p) { return String(v, p, &out->key_file); }, "keyFile"},
         {"CAFile", [&](Json v, const std::string& p) { return String(v, p, &out->ca_file); }, "caFile"},
         {"CertData", [&](Json v, const std::string& p) { return Base64(v, p, &out->cert_data); }, "certData"},
         {"KeyData", [&](Json v, const std::string& p) { return Base64(v, p, &out->key_data); }, "keyData"},
         {"CAData", [&](Json v, const std::string& p) { return Base64(v, p, &out->ca_data); }, "caData"}});
    // A certificate without its key, or the reverse, would cause another error.
    if (errors_.size() != before) {
      for (std::string* s : {&out->cert_file, &out->key_file, &out->cert_data, &out->key_data}) s->clear();
    }
  }

  // Extenders have a decoder of their own, which passes unknown members over in every release.
  void Entry(Json j, const std::string& path, ExtenderConfig* out) {
    lenient_ = true;
    ReadExtender(j, path, out);
    lenient_ = false;
  }
  void ReadExtender(Json j, const std::string& path, ExtenderConfig* out) {
    return Members(
        j, path,
        {{"urlPrefix",
          [&](Json v, const std::string& p) {
            if (!String(v, p, &out->url_prefix)) out->url_prefix = absl::StrCat("http://", kUnread);
          }},
         {"filterVerb", [&](Json v, const std::string& p) { return String(v, p, &out->filter_verb); }},
         {"prioritizeVerb", [&](Json v, const std::string& p) { return String(v, p, &out->prioritize_verb); }},
         {"BindVerb", [&](Json v, const std::string& p) { return String(v, p, &out->bind_verb); }, "bindVerb"},
         {"weight", [&](Json v, const std::string& p) { out->weight = Int(v, p, &out->weight) ? out->weight : 1; }},
         {"enableHttps", [&](Json v, const std::string& p) { return Bool(v, p, &out->enable_https); }},
         {"tlsConfig", [&](Json v, const std::string& p) { return Tls(v, p, &out->tls.emplace()); }},
         {"httpTimeout", [&](Json v, const std::string& p) { return Int(v, p, &out->http_timeout_nanos); }},
         {"nodeCacheCapable", [&](Json v, const std::string& p) { return Bool(v, p, &out->node_cache_capable); }},
         {"managedResources",
          [&](Json v, const std::string& p) {
            std::optional<std::vector<ExtenderManagedResource>> list;
            List(v, p, &list);
            out->managed_resources = list.value_or(std::vector<ExtenderManagedResource>());
          }},
         {"preemptVerb",
          [&](Json v, const std::string& p) {
            if (Knows(v, p, release::history::kExtenderFailures)) String(v, p, &out->preempt_verb);
          }},
         {"ignorable", [&](Json v, const std::string& p) {
            if (Knows(v, p, release::history::kExtenderFailures)) Bool(v, p, &out->ignorable);
          }}});
  }

  static constexpr char kUnread[] = "unread.invalid";  // replaces a name or host that could not be read

  bool has_text_;
  Json root_;
  api::LineColumns places_;
  release::Version release_;
  bool lenient_ = false;  // whether unknown members are passed over all the same
  std::vector<std::string>* warnings_;
  std::vector<std::string> errors_;
};

}  // namespace

DecodedPolicy DecodeWholePolicy(std::string_view text, release::Version release) {
  DecodedPolicy out;
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (release::history::kStrictPolicies.Has(release) && first != std::string_view::npos && text[first] != '{') {
    const auto yaml = api::ReadDocument(text);
    if (!yaml.ok()) {
      out.errors.push_back(util::Message(yaml.status()));
      return out;
    }
    Reader reader(text, release, &out.warnings);
    reader.Read(yaml->root(), &out.policy);
    out.errors = reader.errors();
    return out;
  }
  api::Document document;
  if (absl::Status s = document.Parse(text); !s.ok()) {
    out.errors.push_back(util::Message(s));
    return out;
  }
  Reader reader(text, release, &out.warnings);
  reader.Read(document.root(), &out.policy);
  out.errors = reader.errors();
  return out;
}

DecodedPolicy DecodeWholePolicy(Json value, release::Version release) {
  DecodedPolicy out;
  Reader reader({}, release, &out.warnings);
  reader.Read(value, &out.policy);
  out.errors = reader.errors();
  return out;
}

std::string JoinedErrors(const std::vector<std::string>& errors) {
  return errors.size() == 1 ? errors[0] : absl::StrCat("[", absl::StrJoin(errors, ", "), "]");
}

absl::StatusOr<Policy> DecodePolicy(std::string_view text, release::Version release) {
  DecodedPolicy decoded = DecodeWholePolicy(text, release);
  if (!decoded.errors.empty()) return util::InvalidArgument(JoinedErrors(decoded.errors));
  return std::move(decoded.policy);
}

absl::StatusOr<Policy> DecodePolicy(Json value, release::Version release) {
  DecodedPolicy decoded = DecodeWholePolicy(value, release);
  if (!decoded.errors.empty()) return util::InvalidArgument(JoinedErrors(decoded.errors));
  return std::move(decoded.policy);
}

}  // namespace berth::scheduler
