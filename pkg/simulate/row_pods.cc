#include "pkg/simulate/row_pods.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <array>

#include "pkg/api/decode.h"
#include "pkg/api/labels.h"
#include "pkg/api/quantity.h"
#include "pkg/api/scheduling_fields.h"
#include "pkg/api/validation/value.h"
#include "pkg/util/contract.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::simulate {
namespace {

using validation::Value;

// So many different pods are kept for later rows.
constexpr size_t kMostKept = 16'384;

struct NamedRole {
  std::string_view name;
  Role role;
};
constexpr std::array<NamedRole, 7> kPlain = {{{"time", Role::kTime},
                                              {"duration", Role::kDuration},
                                              {"name", Role::kName},
                                              {"namespace", Role::kNamespace},
                                              {"priority", Role::kPriority},
                                              {"count", Role::kCount},
                                              {"template", Role::kTemplate}}};
constexpr std::array<NamedRole, 11> kOpenb = {{{"name", Role::kName},
                                               {"creation_time", Role::kTime},
                                               {"deletion_time", Role::kDeletionTime},
                                               {"cpu_milli", Role::kCpuMilli},
                                               {"memory_mib", Role::kMemoryMib},
                                               {"num_gpu", Role::kGpus},
                                               {"gpu_milli", Role::kGpuMilli},
                                               {"gpu_spec", Role::kGpuModels},
                                               {"qos", Role::kQos},
                                               {"pod_phase", Role::kUnread},
                                               {"scheduled_time", Role::kScheduledTime}}};

bool MayBeResource(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || name.starts_with("hugepages-") ||
         name.find('/') != std::string_view::npos;
}

// Whether rows that differ in a column differ in more than name and times.
bool MakesAnother(Role role) {
  return role != Role::kTime && role != Role::kDuration && role != Role::kName && role != Role::kCount &&
         role != Role::kDeletionTime && role != Role::kScheduledTime && role != Role::kUnread;
}

// The pod that is being made, as JSON.
class Draft {
 public:
  Draft(const std::vector<Column>& columns, const KnownPods& known, const Cell& cell)
      : columns_(columns), known_(known), cell_(cell) {}

  absl::Status Read(const std::vector<std::string_view>& fields) {
    for (size_t i = 0; i < fields.size(); ++i) {
      cell_.column = columns_[i].name;
      BERTH_RETURN_IF_ERROR(Read(columns_[i], fields[i]));
    }
    cell_.column = {};
    if (gpus_ > 0) {
      if (!known_.gpu_milli.empty()) {
        requests_.Set(known_.gpu_milli, Value::String(absl::StrCat(gpus_ * gpu_milli_)));
      } else {
        requests_.Set(known_.gpus, Value::String(absl::StrCat(gpus_)));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<api::PodPtr> Finish() {
    Value pod;
    if (like_ != nullptr) {
      if (requests_.empty() && ns_.empty() && !priority_) return like_;
      const auto text = api::TemplateFields(like_->tmpl);
      if (text == nullptr) return ErrorAt(cell_, "the pod of the template cannot be changed");
      auto parsed = validation::ParseJson(*text);
      if (!parsed.ok()) return parsed.status();
      pod = *std::move(parsed);
    } else if (ns_.empty()) {
      ns_ = "default";
    }
    Value& meta = pod.Child("metadata");
    meta.Set("name", Value::String("row"));
    if (!ns_.empty()) meta.Set("namespace", Value::String(ns_));
    if (!qos_.empty()) meta.Child("labels").Set("qos", Value::String(qos_));
    Value& spec = pod.Child("spec");
    if (priority_) spec.Set("priority", Value::Int(*priority_));
    if (spec.Find("containers") == nullptr) {
      Value container;
      container.Set("name", Value::String("main"));
      Value list = Value::Array();
      list.Append(std::move(container));
      spec.Set("containers", std::move(list));
    }
    Value& first = spec.Find("containers")->items[0];
    for (size_t i = 0; i < requests_.keys.size(); ++i) {
      first.Child("resources").Child("requests").Set(requests_.keys[i], requests_.items[i]);
    }
    if (!models_.empty()) SetModels(&spec);
    api::Document document;
    BERTH_RETURN_IF_ERROR(document.Parse(validation::ToJson(pod)));
    auto decoded = api::DecodePod(document.root());
    if (!decoded.ok()) return ErrorAt(cell_, util::Message(decoded.status()));
    return *decoded;
  }

 private:
  absl::Status Read(const Column& column, std::string_view field) {
    if (field.empty()) return absl::OkStatus();
    switch (column.role) {
      case Role::kNamespace:
        ns_ = field;
        return CheckNamespace(cell_, field);
      case Role::kPriority: {
        int32_t number = 0;
        if (!absl::SimpleAtoi(util::ToAbsl(field), &number)) return Bad(field, "is not an integer of 32 bits");
        priority_ = number;
        break;
      }
      case Role::kTemplate: {
        auto found = known_.templates.find(std::string(field));
        if (found == known_.templates.end()) {
          return Bad(field, known_.workloads_act
                                ? "is not a pod of the input: with controllers, workloads make their pods "
                                  "themselves (--controllers=off copies those of workloads)"
                                : "is neither a pod nor a workload with pods in the input");
        }
        if (found->second == nullptr) return Bad(field, "is the name of several in the input: say KIND NAMESPACE/NAME");
        like_ = found->second;
        break;
      }
      case Role::kResource:
        return Request(column.name, field, std::string(field));
      case Role::kCpuMilli:
        return Request("cpu", field, absl::StrCat(util::ToAbsl(field), "m"));
      case Role::kMemoryMib:
        return Request("memory", field, absl::StrCat(util::ToAbsl(field), "Mi"));
      case Role::kGpus:
        return Count(field, &gpus_);
      case Role::kGpuMilli:
        BERTH_RETURN_IF_ERROR(Count(field, &gpu_milli_));
        return gpu_milli_ > 1'000 ? Bad(field, "is more than 1000, which is a whole GPU") : absl::OkStatus();
      case Role::kGpuModels:
        models_ = field;
        for (absl::string_view model : absl::StrSplit(models_, '|')) {
          BERTH_RETURN_IF_ERROR(CheckLabelValue(cell_, util::FromAbsl(model)));
        }
        break;
      case Role::kQos:
        qos_ = field;
        return CheckLabelValue(cell_, field);
      default:
        break;
    }
    return absl::OkStatus();
  }
  absl::Status Bad(std::string_view value, std::string_view what) const {
    return ErrorAt(cell_, absl::StrCat(util::GoQuoted(value), " ", util::ToAbsl(what)));
  }
  absl::Status Count(std::string_view field, int64_t* out) const {
    if (!absl::SimpleAtoi(util::ToAbsl(field), out) || *out < 0) return Bad(field, "is not a number of 0 or more");
    return absl::OkStatus();
  }
  absl::Status Request(const std::string& resource, std::string_view field, const std::string& amount) {
    const auto parsed = api::Quantity::Parse(amount);
    if (!parsed.ok()) return Bad(field, absl::StrCat("is not a quantity: ", parsed.status().message()));
    if (parsed->Sign() < 0) return Bad(field, "is negative");
    if (resource.find('/') != std::string::npos && !parsed->SaturatesMilliValue() &&
        parsed->MilliValue() % 1'000 != 0) {
      return Bad(field, "is not a whole number, as amounts of extended resources must be");
    }
    requests_.Set(resource, Value::String(amount));
    return absl::OkStatus();
  }
  void SetModels(Value* spec) const {
    Value expression, values = Value::Array();
    expression.SetAll({{"key", "gpu-model"}, {"operator", "In"}});
    for (absl::string_view model : absl::StrSplit(models_, '|')) values.Append(Value::String(util::FromAbsl(model)));
    expression.Set("values", std::move(values));
    Value term, expressions = Value::Array(), terms = Value::Array();
    expressions.Append(std::move(expression));
    term.Set("matchExpressions", std::move(expressions));
    terms.Append(std::move(term));
    spec->Child("affinity")
        .Child("nodeAffinity")
        .Child("requiredDuringSchedulingIgnoredDuringExecution")
        .Set("nodeSelectorTerms", std::move(terms));
  }

  const std::vector<Column>& columns_;
  const KnownPods& known_;
  Cell cell_;
  std::string ns_, qos_, models_;
  std::optional<int32_t> priority_;
  api::PodPtr like_;
  Value requests_ = Value::Object();
  int64_t gpus_ = 0, gpu_milli_ = 1'000;
};

}  // namespace

bool IsOpenb(const std::vector<Column>& columns) {
  return std::any_of(columns.begin(), columns.end(), [](const Column& c) { return c.role == Role::kDeletionTime; });
}

absl::StatusOr<std::vector<Column>> RolesOf(const std::vector<std::string_view>& header) {
  const bool openb = std::find(header.begin(), header.end(), "creation_time") != header.end();
  std::vector<Column> columns;
  const auto find = [&](std::string_view name) {
    return std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; });
  };
  const auto add = [&](std::string_view name, const auto& roles) -> absl::Status {
    if (find(name) != columns.end()) {
      return util::InvalidArgument(absl::StrCat("column ", util::ToAbsl(name), ": there are two"));
    }
    Column column{std::string(name), Role::kResource};
    const auto role = std::find_if(roles.begin(), roles.end(), [&](const NamedRole& r) { return r.name == name; });
    if (role != roles.end()) {
      column.role = role->role;
    } else if (!MayBeResource(name)) {
      return util::InvalidArgument(absl::StrCat(
          "column ", util::GoQuoted(name),
          ": neither a column of arrivals (time, duration, name, namespace, priority, ",
          "count, template) nor a resource (cpu, memory, ephemeral-storage, hugepages-SIZE, DOMAIN/NAME)"));
    } else if (const auto problems = api::QualifiedNameProblems(name); !problems.empty()) {
      return util::InvalidArgument(
          absl::StrCat("column ", util::GoQuoted(name), ": is not the name of a resource: ", problems[0]));
    }
    columns.push_back(std::move(column));
    return absl::OkStatus();
  };
  for (std::string_view name : header) BERTH_RETURN_IF_ERROR(openb ? add(name, kOpenb) : add(name, kPlain));
  constexpr std::array<std::string_view, 3> kNeeded = {"time", "duration", "name"};
  constexpr std::array<std::string_view, 5> kNeededOpenb = {"name", "creation_time", "deletion_time", "cpu_milli",
                                                            "memory_mib"};
  const auto missing = [&](const auto& names) -> absl::Status {
    for (std::string_view name : names) {
      if (find(name) == columns.end()) {
        return util::InvalidArgument(absl::StrCat("the column ", util::GoQuoted(name), " is missing"));
      }
    }
    return absl::OkStatus();
  };
  BERTH_RETURN_IF_ERROR(openb ? missing(kNeededOpenb) : missing(kNeeded));
  return columns;
}

absl::StatusOr<api::PodPtr> RowPods::Of(const std::vector<std::string_view>& fields, Cell cell) {
  BERTH_REQUIRES(fields.size() == columns_->size());
  key_.clear();
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!MakesAnother((*columns_)[i].role)) continue;
    key_.append(fields[i]);
    key_.push_back('\n');
  }
  if (auto known = made_.find(key_); known != made_.end()) return known->second;
  auto made = Make(fields, cell);
  if (!made.ok()) return made.status();
  if (made_.size() >= kMostKept) made_.clear();
  made_.emplace(key_, *made);
  return made;
}

absl::StatusOr<api::PodPtr> RowPods::Make(const std::vector<std::string_view>& fields, const Cell& cell) const {
  Draft draft(*columns_, *known_, cell);
  BERTH_RETURN_IF_ERROR(draft.Read(fields));
  return draft.Finish();
}

}  // namespace berth::simulate
