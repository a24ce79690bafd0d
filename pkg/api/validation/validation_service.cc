// Services, ConfigMaps, Secrets and PodDisruptionBudgets.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include "pkg/api/labels.h"
#include "pkg/api/validation/validation.h"
#include "pkg/util/go_text.h"

namespace berth::validation {
namespace {

// The port as a server shows it in memory.
std::string PortInMemory(std::string_view protocol, int64_t port, Version release) {
  if (kShowsJson.Has(release)) {
    return absl::StrCat(R"({"Name":"","Protocol":")", std::string(protocol), R"(","AppProtocol":null,"Port":)", port,
                        R"(,"TargetPort":0,"NodePort":0})");
  }
  return absl::StrCat("core.ServicePort{Name:\"\", Protocol:", util::GoQuoted(protocol),
                      kAppProtocols.Has(release) ? ", AppProtocol:(*string)(nil)" : "", ", Port:", port,
                      ", TargetPort:intstr.IntOrString{Type:0, IntVal:0, StrVal:\"\"}, NodePort:0}");
}

void ServicePorts(const Value& spec, Version release, FieldErrors* errors) {
  const bool many = OrEmpty(spec.Find("ports")).items.size() > 1;
  std::set<std::string> names, taken;
  EachOf(spec, "ports", "spec", [&](const Value& p, const Path& here) {
    if (many || !p.Str("name").empty()) ValidateNameInList(p.Str("name"), here / "name", &names, errors);
    ValidatePort(IntOf(p, "port"), here / "port", errors);
    ValidateNeededWord(p, "protocol", here, ProtocolsOf(release), errors);
    if (p.Find("targetPort") != nullptr) ValidatePortOrName(p.Find("targetPort"), here / "targetPort", errors);
  });
  EachOf(spec, "ports", "spec", [&](const Value& p, const Path& here) {
    const int64_t n = IntOf(p, "port"), node_port = IntOf(p, "nodePort");
    if (spec.Str("type") == "ClusterIP" && node_port != 0) {
      constexpr std::string_view kText = "may not be used when `type` is 'ClusterIP'";
      errors->push_back(kIpFamilies.Has(release) ? Forbidden(here / "nodePort", kText)
                                                 : InvalidRaw(here / "nodePort", node_port, kText));
    }
    if (!taken.insert(absl::StrCat(std::string(p.Str("protocol")), "/", n)).second) {
      errors->push_back(DuplicateRaw(here, PortInMemory(p.Str("protocol"), n, release)));
    }
  });
}

void TypeOfService(const Value& spec, std::string_view type, Version release, FieldErrors* errors) {
  const bool headless = spec.Str("clusterIP") == "None";
  if (headless && (type == "NodePort" || type == "LoadBalancer")) {
    errors->push_back(Invalid(kIpFamilies.Has(release) ? "spec.clusterIPs[0]" : "spec.clusterIP", "None",
                              absl::StrCat("may not be set to 'None' for ", std::string(type), " services")));
  }
  if (type != "ExternalName") return;
  std::string_view name = spec.Str("externalName");
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty()) {
    errors->push_back(Required("spec.externalName"));
  } else {
    AddProblems(api::Dns1123SubdomainProblems(name), "spec.externalName", name, errors);
  }
  if (!spec.Str("clusterIP").empty()) {
    errors->push_back(Forbidden(kIpFamilies.Has(release) ? "spec.clusterIPs" : "spec.clusterIP",
                                kIpFamilies.Has(release) ? "may not be set for ExternalName services"
                                                         : "must be empty for ExternalName services"));
  }
}

std::string TextOfMember(const Value& holder, std::string_view key) {
  const Value* v = holder.Find(key);
  return v == nullptr || v->empty() ? (v == nullptr ? "" : v->text()) : ToSortedJson(*v);
}

// Checks one of a budget's bounds: a number that is not negative, or a percentage up to 100%.
void Bound(const Value& spec, std::string_view member, FieldErrors* errors) {
  const Value* bound = spec.Find(member);
  if (bound == nullptr || bound->IsNull()) return;
  const Path holder("spec"), at = holder / member;
  if (bound->IsNumber()) {
    if (bound->AsInt() < 0) errors->push_back(InvalidRaw(at, bound->text(), "must be greater than or equal to 0"));
    return;
  }
  const std::string& text = bound->text();
  const std::string digits = text.substr(0, text.size() - (text.empty() ? 0 : 1));
  const bool percent = text.ends_with('%') && !digits.empty() &&
                       std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  constexpr size_t kDigitsOfHundred = 3;
  if (!percent) {
    errors->push_back(
        Invalid(at, text,
                "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
                "regex used for validation is '[0-9]+%')"));
  } else if (digits.size() > kDigitsOfHundred || std::stoi(digits) > 100) {
    errors->push_back(Invalid(at, text, "must not be greater than 100%"));
  }
}

// Both bounds in one budget: the server shows the specification as it has it in memory.
std::string BudgetInMemory(const Value& spec) {
  auto text = [&](std::string_view member) {
    const Value* v = spec.Find(member);
    return v == nullptr ? std::string("null") : ToSortedJson(*v);
  };
  return absl::StrCat(R"({"MinAvailable":)", text("minAvailable"), R"(,"Selector":)", text("selector"),
                      R"(,"MaxUnavailable":)", text("maxUnavailable"), R"(,"UnhealthyPodEvictionPolicy":)",
                      text("unhealthyPodEvictionPolicy"), "}");
}

}  // namespace

void ValidateService(const Value& service, const Value* old, Version release, FieldErrors* errors) {
  const Value* spec = service.Find("spec");
  if (spec == nullptr) return;
  if (old != nullptr) {
    const Value& before = OrEmpty(old->Find("spec"));
    const std::string_view ip = spec->Str("clusterIP"), had = before.Str("clusterIP");
    const bool names = spec->Str("type") == "ExternalName" || before.Str("type") == "ExternalName";
    if (!names && !had.empty() && ip != had) {
      errors->push_back(
          kIpFamilies.Has(release)
              ? InvalidRaw("spec.clusterIPs[0]", absl::StrCat("[\"", std::string(ip), "\"]"), "may not change once set")
              : Invalid("spec.clusterIP", ip, "field is immutable"));
    }
  }
  const std::string_view type = spec->Str("type");
  ValidateNeededWord(*spec, "type", "spec", {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"}, errors);
  if (OrEmpty(spec->Find("ports")).empty() && spec->Str("clusterIP") != "None" && type != "ExternalName") {
    errors->push_back(Required("spec.ports"));
  }
  TypeOfService(*spec, type, release, errors);
  ValidateLabels(spec->Find("selector"), Path("spec.selector"), errors);
  ValidateWord(*spec, "sessionAffinity", "spec", {"ClientIP", "None"}, errors);
  ServicePorts(*spec, release, errors);
}

void ValidateConfiguration(const Value& object, const Value* old, FieldErrors* errors) {
  constexpr size_t kLongestKey = 253;
  std::set<std::string_view> keys;
  for (std::string_view member : {"data", "binaryData"}) {
    const Value& map = OrEmpty(object.Find(member));
    const Path at(member);
    for (const std::string& key : map.keys) {
      const Path here = at.Key(key);
      const bool plain = std::all_of(key.begin(), key.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
      });
      if (key.size() > kLongestKey) {
        errors->push_back(Invalid(here, key, absl::StrCat("must be no more than ", kLongestKey, " characters")));
      }
      if (!plain || key.empty()) {
        errors->push_back(Invalid(here, key,
                                  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
                                  "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
                                  "'[-._a-zA-Z0-9]+')"));
      }
      if (key == "." || key == "..") errors->push_back(Invalid(here, key, absl::StrCat("must not be '", key, "'")));
      if (key.size() > 2 && key.starts_with("..")) errors->push_back(Invalid(here, key, "must not start with '..'"));
      if (!keys.insert(key).second) errors->push_back(Invalid(here, key, "duplicate of key present in data"));
    }
  }
  if (old == nullptr) return;
  if (object.Str("type") != old->Str("type")) {
    errors->push_back(Invalid("type", object.Str("type"), "field is immutable"));
  }
  const Value* fixed = old->Find("immutable");
  if (fixed == nullptr || !fixed->AsBool()) return;
  constexpr std::string_view kText = "field is immutable when `immutable` is set";
  if (!OrEmpty(object.Find("immutable")).AsBool()) errors->push_back(Forbidden("immutable", kText));
  for (std::string_view member : {"data", "binaryData"}) {
    if (TextOfMember(object, member) != TextOfMember(*old, member)) errors->push_back(Forbidden(member, kText));
  }
}

void ValidateBudget(const Value& budget, FieldErrors* errors) {
  const Value& spec = OrEmpty(budget.Find("spec"));
  if (spec.Find("minAvailable") != nullptr && spec.Find("maxUnavailable") != nullptr) {
    errors->push_back(InvalidRaw("spec", BudgetInMemory(spec), "minAvailable and maxUnavailable cannot be both set"));
  }
  Bound(spec, "minAvailable", errors);
  Bound(spec, "maxUnavailable", errors);
  ValidateLabelSelector(spec.Find("selector"), Path("spec.selector"), errors);
  ValidateWord(spec, "unhealthyPodEvictionPolicy", "spec", {"AlwaysAllow", "IfHealthyBudget"}, errors);
}

}  // namespace berth::validation
