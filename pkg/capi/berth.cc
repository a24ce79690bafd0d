// The functions of berth.h. Each takes its handles into use, checks its arguments, and lets no exception out.
#include "pkg/capi/berth.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "pkg/api/stream.h"
#include "pkg/capi/calls.h"
#include "pkg/capi/cluster.h"
#include "pkg/lab/input_forms.h"
#include "pkg/util/status.h"
#include "pkg/util/version.h"

namespace berth::capi {
namespace {

using scheduler::Row;

absl::Status AppendInput(const berth_input& input, std::vector<lab::NamedText>* out) {
  if (input.path == nullptr) {
    auto text = TextOf(input.text, input.size, input.name);
    if (!text.ok()) return text.status();
    out->push_back(std::move(*text));
    return absl::OkStatus();
  }
  if (std::string_view(input.path) == "-") return util::InvalidArgument("-: the library does not read standard input");
  auto files = lab::FilesOf({input.path}, /*recursive=*/false);
  if (!files.ok()) return files.status();
  for (const std::string& file : *files) {
    auto text = api::ReadInput(file);
    if (!text.ok()) return text.status();
    out->push_back({file, std::make_shared<const std::string>(std::move(*text))});
  }
  return absl::OkStatus();
}

int32_t Status(const absl::Status& s) {
  return s.ok() ? BERTH_OK : Fail(s);
}

int32_t AddRule(berth_cluster* cluster, const char* name, OwnRule rule) {
  return WithCluster(cluster, [&](Cluster& c) {
    if (const int32_t code = CheckName(name, "the name of the rule"); code != BERTH_OK) return code;
    if (*name == '\0') return Fail(BERTH_INVALID, "the name of the rule: must not be empty");
    if (rule.function == nullptr) return Null("the function of the rule");
    if (!std::isfinite(rule.weight)) {
      return Fail(BERTH_INVALID, absl::StrCat("weight ", rule.weight, ": must be a finite number"));
    }
    rule.name = name;
    rule.symbol = util::Symbol(rule.name);
    c.own.rules.push_back(std::move(rule));
    c.UseRules();
    return int32_t{BERTH_OK};
  });
}

// Writes amounts of a resource by row.
template <typename Column, typename Scalar>
void Write(size_t rows, double* out, const Column& column, const Scalar& scalar) {
  if (out == nullptr) return;
  for (size_t r = 0; r < rows; ++r) out[r] = static_cast<double>(column != nullptr ? (*column)[r] : scalar(r));
}

// Closes a handle; of one that broke, the object stays in memory.
template <typename T>
int32_t Close(void* handle, const char* kind) {
  return Guarded([&] {
    if (auto held = std::dynamic_pointer_cast<T>(Find(handle)); held != nullptr && held->broken) {
      Remove(handle);
      return int32_t{BERTH_OK};
    }
    Use<T> use(handle, kind);
    if (!use) return use.code();
    Remove(handle);
    return int32_t{BERTH_OK};
  });
}

}  // namespace
}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: the rest of this file defines functions of C
using berth::scheduler::Decision;
using berth::scheduler::Row;

extern "C" {

uint32_t berth_abi_version(void) {
  return BERTH_ABI_VERSION;
}
const char* berth_version(void) {
  static const std::string& version = *new std::string(berth::util::Version());
  return version.c_str();
}
const char* berth_last_error(void) {
  return LastError();
}

int32_t berth_open(const char* options, size_t options_size, const berth_input* inputs, size_t count,
                   berth_cluster** out) {
  return Guarded([&] {
    if (out == nullptr) return Null("out");
    if (inputs == nullptr && count > 0) return Null("inputs");
    if (options == nullptr && options_size > 0) return Null("options");
    std::vector<berth::lab::NamedText> texts;
    for (size_t i = 0; i < count; ++i) {
      if (absl::Status s = AppendInput(inputs[i], &texts); !s.ok()) return Fail(s);
    }
    auto made = OpenCluster(options == nullptr ? std::string_view() : std::string_view(options, options_size), texts);
    if (!made.ok()) return Fail(made.status());
    *out = static_cast<berth_cluster*>(Enter(std::move(*made)));
    return int32_t{BERTH_OK};
  });
}

int32_t berth_copy(berth_cluster* cluster, berth_cluster** out) {
  return WithCluster(cluster, [&](Cluster& c) {
    if (out == nullptr) return Null("out");
    auto made = CopyOf(c);
    if (!made.ok()) return Fail(made.status());
    *out = static_cast<berth_cluster*>(Enter(std::move(*made)));
    return int32_t{BERTH_OK};
  });
}

int32_t berth_close(berth_cluster* cluster) {
  return Close<Cluster>(cluster, "clusters");
}

int32_t berth_warnings(berth_cluster* cluster, const char** text, size_t* size) {
  return WithCluster(cluster, [&](Cluster& c) {
    if (text == nullptr || size == nullptr) return Null("text or size");
    *text = c.warnings.c_str();
    *size = c.warnings.size();
    return int32_t{BERTH_OK};
  });
}

int32_t berth_node_count(berth_cluster* cluster, size_t* count) {
  return WithCluster(cluster, [&](Cluster& c) {
    if (count == nullptr) return Null("count");
    *count = c.cache().row_count();
    return int32_t{BERTH_OK};
  });
}

int32_t berth_node_name(berth_cluster* cluster, size_t node, const char** name) {
  return WithCluster(cluster, [&](Cluster& c) {
    if (name == nullptr) return Null("name");
    if (node >= c.cache().row_count()) return OutOfRange("node", node, c.cache().row_count());
    const berth::scheduler::NodeRow& row = c.cache().row(static_cast<Row>(node));
    *name = row.node == nullptr ? "" : row.node->meta.name.c_str();
    return int32_t{BERTH_OK};
  });
}

int32_t berth_node_index(berth_cluster* cluster, const char* name, int32_t* node) {
  return WithCluster(cluster, [&](Cluster& c) {
    if (node == nullptr) return Null("node");
    if (const int32_t code = CheckName(name, "the name of the node"); code != BERTH_OK) return code;
    const Row row = c.cache().FindRow(berth::util::Symbol::Find(name));
    *node = row == berth::scheduler::kNoRow || !c.cache().listed().Has(row) ? -1 : static_cast<int32_t>(row);
    return int32_t{BERTH_OK};
  });
}

int32_t berth_remove_node(berth_cluster* cluster, const char* name) {
  return WithCluster(cluster, [&](Cluster& c) {
    if (const int32_t code = CheckName(name, "the name of the node"); code != BERTH_OK) return code;
    const Row row = c.cache().FindRow(berth::util::Symbol::Find(name));
    if (row == berth::scheduler::kNoRow || !c.cache().listed().Has(row)) {
      return Fail(BERTH_INVALID, absl::StrCat("there is no node \"", name, "\""));
    }
    c.cache().RemoveNode(name);
    return int32_t{BERTH_OK};
  });
}

int32_t berth_apply(berth_cluster* cluster, const char* text, size_t size, const char* name, size_t* objects) {
  return WithCluster(cluster, [&](Cluster& c) {
    auto own = TextOf(text, size, name);
    if (!own.ok()) return Fail(own.status());
    auto count = Apply(&c, *own);
    if (!count.ok()) return Fail(count.status());
    if (objects != nullptr) *objects = *count;
    return int32_t{BERTH_OK};
  });
}

int32_t berth_pending(berth_cluster* cluster, berth_pods** out) {
  return WithCluster(cluster, [&](Cluster& c) {
    if (out == nullptr) return Null("out");
    *out = static_cast<berth_pods*>(Enter(ListOf(c.past.pending, c.algorithm.release)));
    return int32_t{BERTH_OK};
  });
}

int32_t berth_read_pods(berth_cluster* cluster, const char* text, size_t size, const char* name, berth_pods** out) {
  return WithCluster(cluster, [&](Cluster& c) {
    if (out == nullptr) return Null("out");
    auto own = TextOf(text, size, name);
    if (!own.ok()) return Fail(own.status());
    auto pods = ReadPods(c, *own);
    if (!pods.ok()) return Fail(pods.status());
    auto source = std::make_shared<const Source>(Source{*own, std::move(*pods)});
    *out = static_cast<berth_pods*>(Enter(ListOf(std::move(source), c.algorithm.release)));
    return int32_t{BERTH_OK};
  });
}

int32_t berth_close_pods(berth_pods* pods) {
  return Close<Pods>(pods, "pods");
}

int32_t berth_pods_count(berth_pods* pods, size_t* count) {
  return WithPods(pods, [&](Pods& p) {
    if (count == nullptr) return Null("count");
    *count = p.pods.size();
    return int32_t{BERTH_OK};
  });
}

int32_t berth_pod_name(berth_pods* pods, size_t pod, const char** name) {
  return WithPods(pods, [&](Pods& p) {
    if (name == nullptr) return Null("name");
    if (pod >= p.names.size()) return OutOfRange("pod", pod, p.names.size());
    *name = p.names[pod].c_str();
    return int32_t{BERTH_OK};
  });
}

int32_t berth_schedule(berth_cluster* cluster, berth_pods* pods, size_t first, size_t count, int32_t* nodes) {
  if (count == 0) {
    return WithCluster(cluster, [&](Cluster&) { return WithPods(pods, [](Pods&) { return int32_t{BERTH_OK}; }); });
  }
  return WithPod(cluster, pods, first, [&](Cluster& c, Pods& p, const berth::api::PodPtr&) {
    if (nodes == nullptr) return Null("nodes");
    if (count > p.pods.size() - first) {
      return Fail(BERTH_INVALID,
                  absl::StrCat(count, " pods from index ", first, " out of range (size ", p.pods.size(), ")"));
    }
    c.NoteList(p);
    for (size_t i = first; i < first + count; ++i) {
      Decision d = c.simulation->Place(p.pods[i]);
      const bool placed = d.outcome == Decision::Outcome::kPlaced;
      nodes[i - first] = placed ? static_cast<int32_t>(c.cache().FindRow(d.host)) : -1;
      p.reasons[i] = std::move(d.error);
      if (placed) c.Tell(*p.pods[i], static_cast<Row>(nodes[i - first]), true);
      if (!placed && c.own.needed() && !c.own.Error().empty()) return Fail(BERTH_CALLBACK, c.own.Error());
    }
    return int32_t{BERTH_OK};
  });
}

int32_t berth_reason(berth_pods* pods, size_t pod, const char** text, size_t* size) {
  return WithPods(pods, [&](Pods& p) {
    if (text == nullptr || size == nullptr) return Null("text or size");
    if (pod >= p.reasons.size()) return OutOfRange("pod", pod, p.reasons.size());
    *text = p.reasons[pod].c_str();
    *size = p.reasons[pod].size();
    return int32_t{BERTH_OK};
  });
}

int32_t berth_assume(berth_cluster* cluster, berth_pods* pods, size_t pod, int32_t node) {
  return WithPod(cluster, pods, pod, [&](Cluster& c, Pods& p, const berth::api::PodPtr& of) {
    berth::util::Symbol name;
    if (const int32_t code = NameOf(c, node, &name); code != BERTH_OK) return code;
    c.NoteList(p);
    if (absl::Status s = c.simulation->PlaceOn(of, name); !s.ok()) return Fail(s);
    c.Tell(*of, static_cast<Row>(node), true);
    return int32_t{BERTH_OK};
  });
}

int32_t berth_forget(berth_cluster* cluster, berth_pods* pods, size_t pod) {
  return WithPod(cluster, pods, pod, [&](Cluster& c, Pods&, const berth::api::PodPtr& of) {
    const berth::api::PodPtr placed = c.cache().GetPod(of->meta.uid);
    if (placed == nullptr) return Fail(BERTH_INVALID, absl::StrCat("Pod \"", of->meta.Key(), "\" is on no node"));
    const Row row = c.cache().FindRow(placed->node_name);
    if (absl::Status s = c.simulation->Forget(*placed); !s.ok()) return Fail(s);
    c.Tell(*placed, row, false);
    return int32_t{BERTH_OK};
  });
}

int32_t berth_bind(berth_cluster* cluster, berth_pods* pods, size_t pod, int32_t node) {
  return WithPod(cluster, pods, pod, [&](Cluster& c, Pods& p, const berth::api::PodPtr& of) {
    berth::util::Symbol name;
    if (const int32_t code = NameOf(c, node, &name); code != BERTH_OK) return code;
    c.NoteList(p);
    const berth::api::PodPtr before = c.cache().GetPod(of->meta.uid);
    const Row from = before == nullptr ? berth::scheduler::kNoRow : c.cache().FindRow(before->node_name);
    if (absl::Status s = c.cache().AddPod(PlacedAs(of, name)); !s.ok()) return Fail(s);
    if (before != nullptr && before->node_name == name) return int32_t{BERTH_OK};
    if (before != nullptr) c.Tell(*before, from, false);
    c.Tell(*of, static_cast<Row>(node), true);
    return int32_t{BERTH_OK};
  });
}

int32_t berth_delete_pod(berth_cluster* cluster, const char* name) {
  return WithCluster(cluster, [&](Cluster& c) {
    if (const int32_t code = CheckName(name, "the name of the pod"); code != BERTH_OK) return code;
    berth::api::PodPtr found;
    c.cache().ForEachPod([&](const auto& placed, const auto&) {
      if (placed.pod->meta.Key() == name) found = placed.pod;
    });
    if (found == nullptr) return Fail(BERTH_INVALID, absl::StrCat("Pod \"", name, "\" is on no node"));
    const Row row = c.cache().FindRow(found->node_name);
    if (absl::Status s = c.cache().RemovePod(*found); !s.ok()) return Fail(s);
    c.Tell(*found, row, false);
    return int32_t{BERTH_OK};
  });
}

int32_t berth_scores(berth_cluster* cluster, berth_pods* pods, size_t pod, size_t nodes, uint8_t* feasible,
                     double* totals) {
  return WithPod(cluster, pods, pod, [&](Cluster& c, Pods&, const berth::api::PodPtr& of) {
    if (const int32_t code = CheckNodes(c, nodes); code != BERTH_OK) return code;
    if (feasible != nullptr) std::memset(feasible, 0, nodes);
    if (totals != nullptr) std::fill(totals, totals + nodes, 0.0);
    auto* scheduler = c.simulation->SchedulerOf(*of);
    if (scheduler == nullptr || !c.simulation->WhyHeld(of).empty()) return int32_t{BERTH_OK};
    berth::scheduler::Evaluation& e = c.evaluation;
    scheduler->Evaluate(of, &e);
    if (!e.error.empty()) return Fail(c.own.Error().empty() ? BERTH_INVALID : BERTH_CALLBACK, e.error);
    if (feasible != nullptr && e.rows.size() == nodes) {
      std::memset(feasible, 1, nodes);
    } else if (feasible != nullptr) {
      e.fits.ForEach([&](Row r) { feasible[r] = 1; });
    }
    if (totals == nullptr) return int32_t{BERTH_OK};
    if (!c.own.HasPriorities()) {
      for (size_t i = 0; i < e.rows.size(); ++i) totals[e.rows[i]] = static_cast<double>(e.totals[i]);
      return int32_t{BERTH_OK};
    }
    c.sums.assign(e.totals.begin(), e.totals.end());
    if (!c.sums.empty() && !c.own.AddScores(*of, e.rows, &c.sums)) return Fail(BERTH_CALLBACK, c.own.Error());
    for (size_t i = 0; i < e.rows.size(); ++i) totals[e.rows[i]] = c.sums[i];
    return int32_t{BERTH_OK};
  });
}

int32_t berth_rule_count(berth_cluster* cluster, berth_pods* pods, size_t pod, size_t* count) {
  return WithPod(cluster, pods, pod, [&](Cluster& c, Pods&, const berth::api::PodPtr& of) {
    if (count == nullptr) return Null("count");
    auto* scheduler = c.simulation->SchedulerOf(*of);
    *count = scheduler == nullptr ? 0 : scheduler->config().priorities.size();
    return int32_t{BERTH_OK};
  });
}

int32_t berth_rule(berth_cluster* cluster, berth_pods* pods, size_t pod, size_t rule, const char** name,
                   int64_t* weight) {
  return WithPod(cluster, pods, pod, [&](Cluster& c, Pods&, const berth::api::PodPtr& of) {
    if (name == nullptr || weight == nullptr) return Null("name or weight");
    auto* scheduler = c.simulation->SchedulerOf(*of);
    const size_t rules = scheduler == nullptr ? 0 : scheduler->config().priorities.size();
    if (rule >= rules) return OutOfRange("rule", rule, rules);
    *name = scheduler->config().priorities[rule].name.c_str();
    *weight = scheduler->config().priorities[rule].weight;
    return int32_t{BERTH_OK};
  });
}

int32_t berth_rule_scores(berth_cluster* cluster, berth_pods* pods, size_t pod, size_t rules, size_t nodes,
                          double* scores) {
  return WithPod(cluster, pods, pod, [&](Cluster& c, Pods&, const berth::api::PodPtr& of) {
    if (scores == nullptr) return Null("scores");
    if (const int32_t code = CheckNodes(c, nodes); code != BERTH_OK) return code;
    auto* scheduler = c.simulation->SchedulerOf(*of);
    const size_t known = scheduler == nullptr ? 0 : scheduler->config().priorities.size();
    if (rules != known)
      return Fail(BERTH_INVALID, absl::StrCat("scores of ", rules, " rules: the pod's scheduler has ", known));
    std::fill(scores, scores + rules * nodes, 0.0);
    if (scheduler == nullptr || !c.simulation->WhyHeld(of).empty()) return int32_t{BERTH_OK};
    berth::scheduler::Evaluation& e = c.evaluation;
    scheduler->Evaluate(of, &e);
    if (!e.error.empty()) return Fail(c.own.Error().empty() ? BERTH_INVALID : BERTH_CALLBACK, e.error);
    double* out = scores;
    return Status(scheduler->ScoreByRule(of, e.rows, [&](const berth::scheduler::RuleScores& r) {
      for (size_t i = 0; i < e.rows.size(); ++i) out[e.rows[i]] = static_cast<double>((*r.scores)[i]);
      out += nodes;
    }));
  });
}

int32_t berth_explain(berth_cluster* cluster, berth_pods* pods, size_t pod, const char** json, size_t* size) {
  return WithPod(cluster, pods, pod, [&](Cluster& c, Pods&, const berth::api::PodPtr& of) {
    if (json == nullptr || size == nullptr) return Null("json or size");
    const uint64_t turn = c.simulation->turn();
    c.own.Begin();
    c.explanation = berth::explain::ExplanationData(c.simulation->Explain(of), "json");
    c.simulation->set_turn(turn);
    if (c.own.needed() && !c.own.Error().empty()) return Fail(BERTH_CALLBACK, c.own.Error());
    *json = c.explanation.c_str();
    *size = c.explanation.size();
    return int32_t{BERTH_OK};
  });
}

int32_t berth_amounts(berth_cluster* cluster, const char* resource, size_t nodes, double* allocatable,
                      double* requested) {
  return WithCluster(cluster, [&](Cluster& c) {
    if (const int32_t code = CheckName(resource, "resource"); code != BERTH_OK) return code;
    if (const int32_t code = CheckNodes(c, nodes); code != BERTH_OK) return code;
    const berth::scheduler::Columns& k = c.cache().columns();
    const std::string_view name = resource;
    const std::vector<int64_t>*of = nullptr, *used = nullptr;
    if (name == "cpu") of = &k.alloc_cpu, used = &k.used_cpu;
    if (name == "memory") of = &k.alloc_memory, used = &k.used_memory;
    if (name == "ephemeral-storage") of = &k.alloc_ephemeral, used = &k.used_ephemeral;
    if (name == "pods") of = &k.alloc_pods, used = &k.pod_count;
    const berth::util::Symbol symbol = berth::util::Symbol::Find(name);
    const auto row = [&](size_t r) -> const berth::scheduler::NodeRow& { return c.cache().row(static_cast<Row>(r)); };
    Write(nodes, allocatable, of, [&](size_t r) { return row(r).allocatable.Scalar(symbol); });
    Write(nodes, requested, used, [&](size_t r) { return row(r).requested.Scalar(symbol); });
    return int32_t{BERTH_OK};
  });
}

int32_t berth_request(berth_cluster* cluster, berth_pods* pods, size_t pod, const char* resource, double* amount) {
  return WithPod(cluster, pods, pod, [&](Cluster& c, Pods&, const berth::api::PodPtr& of) {
    if (amount == nullptr) return Null("amount");
    if (const int32_t code = CheckName(resource, "resource"); code != BERTH_OK) return code;
    const berth::util::Symbol symbol = berth::util::Symbol::Find(resource);
    *amount = static_cast<double>(AmountOf(c.cache().Info(of->tmpl)->request, resource, symbol));
    return int32_t{BERTH_OK};
  });
}

int32_t berth_add_priority(berth_cluster* cluster, const char* name, double weight, berth_rule_function rule,
                           void* user) {
  return AddRule(cluster, name,
                 {.name = {}, .symbol = {}, .is_priority = true, .weight = weight, .function = rule, .user = user});
}
int32_t berth_add_predicate(berth_cluster* cluster, const char* name, berth_rule_function rule, void* user) {
  return AddRule(cluster, name,
                 {.name = {}, .symbol = {}, .is_priority = false, .weight = 0, .function = rule, .user = user});
}

}  // extern "C"
