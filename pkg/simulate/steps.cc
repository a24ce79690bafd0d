#include "pkg/simulate/steps.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <map>

#include "pkg/api/decode.h"
#include "pkg/api/validation/value.h"
#include "pkg/lab/edit.h"
#include "pkg/simulate/csv.h"
#include "pkg/simulate/times.h"
#include "pkg/util/csv.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::simulate {
namespace {

using validation::Value;

constexpr std::array<std::string_view, 4> kColumns = {"time", "event", "object", "value"};
constexpr std::array<std::pair<std::string_view, Step::Kind>, 7> kEvents = {{{"join", Step::Kind::kJoin},
                                                                             {"leave", Step::Kind::kLeave},
                                                                             {"fail", Step::Kind::kFail},
                                                                             {"drain", Step::Kind::kDrain},
                                                                             {"roll", Step::Kind::kRoll},
                                                                             {"scale", Step::Kind::kScale},
                                                                             {"restart", Step::Kind::kRestart}}};

Value FieldsOf(const api::Node& node) {
  if (node.meta.fields != nullptr) {
    if (auto parsed = validation::ParseJson(*node.meta.fields); parsed.ok()) return *std::move(parsed);
  }
  return {};
}

absl::StatusOr<api::NodePtr> Decoded(const Value& node) {
  api::Document document;
  BERTH_RETURN_IF_ERROR(document.Parse(validation::ToJson(node)));
  return api::DecodeNode(document.root());
}

Value TaintOf(std::string_view key, std::string_view effect) {
  return Value::Object({{"key", key}, {"effect", effect}});
}

class StepReader {
 public:
  StepReader(const std::string& path, const lab::Scenario& scenario, const WorkloadPods& workloads)
      : path_(path), workloads_(workloads) {
    for (const api::Object& o : scenario.cluster) {
      if (const auto* node = std::get_if<api::NodePtr>(&o)) nodes_[(*node)->meta.name] = *node;
    }
  }

  absl::StatusOr<StepFile> Read() {
    auto lines = OpenLines(path_);
    if (!lines.ok()) return lines.status();
    std::string_view line;
    size_t number = 1;
    cell_ = {path_, number, {}};
    std::vector<std::string_view> fields;
    std::vector<std::string> unquoted;
    if (!(*lines)->Next(&line)) {
      if (!(*lines)->status().ok()) return (*lines)->status();
      return util::InvalidArgument(absl::StrCat(path_, ": the file is empty: the columns are time,event,object,value"));
    }
    if (!util::SplitCsv(line, &fields, &unquoted)) return ErrorAt(cell_, "a quote is not closed");
    BERTH_RETURN_IF_ERROR(ReadHeader(fields));
    StepFile file;
    std::vector<Step>& steps = file.steps;
    while ((*lines)->Next(&line)) {
      cell_ = {path_, ++number, {}};
      if (line.empty()) continue;
      if (!util::SplitCsv(line, &fields, &unquoted)) return ErrorAt(cell_, "a quote is not closed");
      if (fields.size() != place_.size()) {
        return ErrorAt(cell_, absl::StrCat("the row has ", fields.size(), " fields, and the header ", place_.size()));
      }
      BERTH_RETURN_IF_ERROR(ReadRow(fields, &steps.emplace_back()));
    }
    BERTH_RETURN_IF_ERROR((*lines)->status());
    for (size_t i = 1; i < steps.size(); ++i) file.out_of_order += steps[i].at < steps[i - 1].at ? 1 : 0;
    std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.at < b.at; });
    return file;
  }

 private:
  absl::Status ReadHeader(const std::vector<std::string_view>& header) {
    for (std::string_view name : header) {
      const auto known = std::find(kColumns.begin(), kColumns.end(), name);
      if (known == kColumns.end()) {
        return ErrorAt(cell_,
                       absl::StrCat("column ", util::GoQuoted(name), ": the columns are time,event,object,value"));
      }
      place_.push_back(static_cast<size_t>(known - kColumns.begin()));
    }
    for (size_t c = 0; c < kColumns.size(); ++c) {
      const auto times = std::count(place_.begin(), place_.end(), c);
      if (times == 0) return ErrorAt(cell_, absl::StrCat("there is no column ", util::ToAbsl(kColumns[c])));
      if (times > 1) return ErrorAt(cell_, absl::StrCat("there are two columns ", util::ToAbsl(kColumns[c])));
    }
    return absl::OkStatus();
  }

  absl::Status Bad(size_t column, std::string_view value, std::string_view what) {
    cell_.column = kColumns[column];
    return ErrorAt(cell_, absl::StrCat(util::GoQuoted(value), " ", util::ToAbsl(what)));
  }
  absl::Status ReadTime(size_t column, std::string_view text, Micros* out) {
    auto time = ParseTime(text);
    cell_.column = kColumns[column];
    if (!time.ok()) return ErrorAt(cell_, util::Message(time.status()));
    *out = *time;
    return absl::OkStatus();
  }

  absl::Status ReadRow(const std::vector<std::string_view>& fields, Step* step) {
    std::array<std::string_view, 4> row;
    for (size_t i = 0; i < fields.size(); ++i) row[place_[i]] = fields[i];
    BERTH_RETURN_IF_ERROR(ReadTime(0, row[0], &step->at));
    const auto event = std::find_if(kEvents.begin(), kEvents.end(), [&](const auto& e) { return e.first == row[1]; });
    if (event == kEvents.end())
      return Bad(1, row[1], "is not an event: the events are join, leave, fail, drain, roll, scale and restart");
    step->kind = event->second;
    if (row[2].empty()) return Bad(2, row[2], "names nothing");
    switch (step->kind) {
      case Step::Kind::kJoin:
        return ReadJoin(row[2], row[3], step);
      case Step::Kind::kScale:
        return ReadScale(row[2], row[3], step);
      case Step::Kind::kRestart:
        if (!row[3].empty()) return Bad(3, row[3], "is not read: all pods of a workload are replaced");
        return ReadRestart(row[2], step);
      case Step::Kind::kLeave:
        if (!row[3].empty()) return Bad(3, row[3], "is not read: a node leaves for good");
        break;
      default:
        if (!row[3].empty()) BERTH_RETURN_IF_ERROR(ReadTime(3, row[3], &step->back_after));
    }
    return Choose(row[2], step);
  }

  absl::Status ReadJoin(std::string_view name, std::string_view like, Step* step) {
    const std::string object(name);
    cell_.column = kColumns[2];
    BERTH_RETURN_IF_ERROR(CheckName(cell_, name));
    step->nodes = {object};
    auto found = nodes_.find(like.empty() ? object : std::string(like));
    if (found == nodes_.end())
      return Bad(like.empty() ? 2 : 3, found == nodes_.end() && like.empty() ? name : like,
                 "is not a node of the input");
    if (like.empty()) {
      step->joins = found->second;
      return absl::OkStatus();
    }
    if (nodes_.contains(object)) return Bad(2, name, "is a node of the input already");
    auto made = Named(*found->second, object);
    if (!made.ok()) return Bad(3, like, util::Message(made.status()));
    step->joins = *made;
    nodes_[object] = *made;
    return absl::OkStatus();
  }

  absl::Status ReadScale(std::string_view workload, std::string_view replicas, Step* step) {
    BERTH_RETURN_IF_ERROR(FindWorkload(workload, step));
    cell_.column = kColumns[3];
    return ReadCount(cell_, replicas, 0, &step->replicas);
  }

  // These have templates of which they replace the pods.
  absl::Status ReadRestart(std::string_view workload, Step* step) {
    constexpr std::array<std::string_view, 3> kRolled = {"Deployment ", "StatefulSet ", "DaemonSet "};
    BERTH_RETURN_IF_ERROR(FindWorkload(workload, step));
    const bool rolls =
        std::any_of(kRolled.begin(), kRolled.end(), [&](auto kind) { return workload.starts_with(kind); });
    return rolls ? absl::OkStatus()
                 : Bad(2, workload, "cannot be restarted: Deployments, StatefulSets and DaemonSets can");
  }

  absl::Status FindWorkload(std::string_view workload, Step* step) {
    step->workload = std::string(workload);
    if (workloads_.contains(step->workload)) return absl::OkStatus();
    return Bad(2, workload, "is not a workload with pods in the input: give KIND NAMESPACE/NAME");
  }

  absl::Status Choose(std::string_view what, Step* step) {
    const bool selects = what.find_first_of("=! ") != std::string_view::npos;
    if (!selects && what != "*") {
      if (!nodes_.contains(std::string(what))) return Bad(2, what, "is not a node of the input");
      step->nodes = {std::string(what)};
      return absl::OkStatus();
    }
    api::Selector selector;
    if (selects) {
      auto parsed = api::Selector::Parse(what);
      if (!parsed.ok()) return Bad(2, what, util::Message(parsed.status()));
      selector = *std::move(parsed);
    }
    for (const auto& [name, node] : nodes_) {
      if (!selects || selector.Matches(node->labels)) step->nodes.push_back(name);
    }
    return step->nodes.empty() ? Bad(2, what, "selects no node of the input") : absl::OkStatus();
  }

  const std::string& path_;
  const WorkloadPods& workloads_;
  std::map<std::string, api::NodePtr> nodes_;
  std::vector<size_t> place_;  // by column of the file: its index in kColumns
  Cell cell_;
};

}  // namespace

absl::StatusOr<StepFile> ReadSteps(const std::string& path, const lab::Scenario& scenario,
                                   const WorkloadPods& workloads) {
  return StepReader(path, scenario, workloads).Read();
}

api::NodePtr WithState(const api::Node& node, bool cordoned, bool failed) {
  if (!cordoned && !failed) return std::make_shared<api::Node>(node);
  Value fields = FieldsOf(node);
  if (cordoned) fields.Child("spec").Set("unschedulable", Value::Bool(true));
  if (failed) {
    // What the node controller writes: the condition, and from 1.12 on the taints.
    Value condition, conditions = Value::Array(), taints = Value::Array();
    condition.SetAll({{"type", "Ready"}, {"status", "Unknown"}});
    conditions.Append(std::move(condition));
    fields.Child("status").Set("conditions", std::move(conditions));
    if (const Value* had = fields.At({"spec", "taints"})) taints = *had;
    for (std::string_view effect : {"NoSchedule", "NoExecute"}) {
      taints.Append(TaintOf("node.kubernetes.io/unreachable", effect));
    }
    fields.Child("spec").Set("taints", std::move(taints));
  }
  auto made = Decoded(fields);
  return made.ok() ? *made : std::make_shared<api::Node>(node);
}

absl::StatusOr<api::NodePtr> Named(const api::Node& like, const std::string& name) {
  Value fields = FieldsOf(like);
  Value& meta = fields.Child("metadata");
  meta.SetAll({{"name", name}, {"uid", absl::StrCat("node-", name)}});
  if (Value* labels = meta.Find("labels"); labels != nullptr && labels->Find("kubernetes.io/hostname") != nullptr) {
    labels->Set("kubernetes.io/hostname", Value::String(name));
  }
  Value& spec = fields.Child("spec");
  spec.Erase("unschedulable");
  if (Value* taints = spec.Find("taints"); taints != nullptr && taints->IsArray()) {
    taints->items.EraseIf([](const Value& t) { return lab::IsPassingTaint(t.Str("key")); });
  }
  return Decoded(fields);
}

}  // namespace berth::simulate
