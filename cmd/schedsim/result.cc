#include "cmd/schedsim/result.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <sys/resource.h>

#include <algorithm>
#include <map>

#include "pkg/api/json.h"

namespace berth::schedsim {
namespace {

using api::AppendJsonString;
using scheduler::Decision;

void Key(std::string_view key, std::string* out) {
  if (out->back() != '{') out->push_back(',');
  AppendJsonString(key, out);
  out->push_back(':');
}

template <typename List, typename Append>
void Array(const List& list, std::string* out, Append append) {
  out->push_back('[');
  bool first = true;
  for (const auto& x : list) {
    if (!first) out->push_back(',');
    first = false;
    append(x);
  }
  out->push_back(']');
}

void Failures(const scheduler::NodeFailures& failures, std::string* out) {
  std::map<std::string_view, std::vector<std::string_view>> by_node;
  failures.ForEach([&](scheduler::Symbol node, const std::vector<scheduler::FailureReason>& reasons) {
    auto& texts = by_node[node.str()];
    for (const auto& r : reasons) texts.push_back(r.text.str());
    std::sort(texts.begin(), texts.end());
  });
  out->push_back('{');
  for (const auto& [node, texts] : by_node) {
    Key(node, out);
    Array(texts, out, [&](std::string_view t) { AppendJsonString(t, out); });
  }
  out->push_back('}');
}

void OneDecision(const Outcome& o, std::string* out) {
  const Decision& d = o.decision;
  const scheduler::DecisionTrace& t = o.trace;
  out->push_back('{');
  Key("pod", out);
  AppendJsonString(o.pod->meta.Key(), out);
  Key("host", out);
  AppendJsonString(d.host.str(), out);
  if (d.outcome != Decision::Outcome::kPlaced) {
    Key("error", out);
    AppendJsonString(d.error, out);
  }
  if (t.failures != nullptr && t.failures->size() > 0) {
    Key("failures", out);
    Failures(*t.failures, out);
  }
  if (!t.totals.empty()) {
    Key("scores", out);
    out->push_back('{');
    for (size_t i = 0; i < t.feasible.size(); ++i) {
      Key(t.feasible[i].str(), out);
      out->push_back('{');
      for (const auto& p : t.priorities) {
        Key(p.name, out);
        absl::StrAppend(out, p.scores[i]);
      }
      out->push_back('}');
    }
    out->push_back('}');
    Key("totals", out);
    out->push_back('{');
    for (size_t i = 0; i < t.feasible.size(); ++i) {
      Key(t.feasible[i].str(), out);
      absl::StrAppend(out, t.totals[i]);
    }
    out->push_back('}');
  }
  if (o.preemption_tried) {
    auto names = [&](const std::vector<api::PodPtr>& pods) {
      Array(pods, out, [&](const api::PodPtr& p) { AppendJsonString(p->meta.Key(), out); });
    };
    Key("preemption", out);
    out->push_back('{');
    Key("node", out);
    AppendJsonString(o.preemption.node.str(), out);
    Key("victims", out);
    names(o.preemption.victims);
    Key("nominatedToClear", out);
    names(o.preemption.nominated_to_clear);
    out->push_back('}');
  }
  out->push_back('}');
}

double Quantile(std::vector<double> sorted, double q) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1, static_cast<size_t>(q * static_cast<double>(sorted.size())))];
}

}  // namespace

std::string ResultJson(const std::string& name, const std::vector<Outcome>& outcomes) {
  std::string out = "{";
  Key("apiVersion", &out);
  out += "\"schedsim/v1\"";
  Key("kind", &out);
  out += "\"Result\"";
  Key("name", &out);
  AppendJsonString(name, &out);
  Key("decisions", &out);
  Array(outcomes, &out, [&](const Outcome& o) { OneDecision(o, &out); });
  return out + "}\n";
}

std::string ErrorJson(const std::string& name, const std::string& error) {
  std::string out = "{";
  Key("name", &out);
  AppendJsonString(name, &out);
  Key("error", &out);
  AppendJsonString(error, &out);
  return out + "}\n";
}

std::string Placements(const std::vector<Outcome>& outcomes) {
  std::string out;
  for (const Outcome& o : outcomes) {
    std::string_view host = o.decision.host.str();
    absl::StrAppend(&out, o.pod->meta.Key(), " ");
    out.append(host.empty() ? "-" : host);
    out.push_back('\n');
  }
  return out;
}

std::string ResultTable(const std::string& name, const std::vector<Outcome>& outcomes) {
  std::string out;
  if (!name.empty()) absl::StrAppend(&out, "Scenario ", name, "\n");
  size_t width = 3, placed = 0;
  for (const Outcome& o : outcomes) {
    width = std::max(width, o.pod->meta.Key().size());
    placed += o.decision.outcome == Decision::Outcome::kPlaced;
  }
  absl::StrAppendFormat(&out, "%-*s   %s\n", static_cast<int>(width), "POD", "NODE");
  for (const Outcome& o : outcomes) {
    bool fits = o.decision.outcome == Decision::Outcome::kPlaced;
    absl::StrAppendFormat(&out, "%-*s   %s\n", static_cast<int>(width), o.pod->meta.Key(),
                          fits ? o.decision.host.string() : "<none>  " + o.decision.error);
    if (o.preemption_tried && !o.preemption.node.empty()) {
      absl::StrAppendFormat(&out, "%-*s   would fit on %s after evicting", static_cast<int>(width), "",
                            o.preemption.node.string());
      for (const auto& v : o.preemption.victims) absl::StrAppend(&out, " ", v->meta.Key());
      out.push_back('\n');
    }
  }
  absl::StrAppend(&out, placed, " of ", outcomes.size(), " pods placed\n");
  return out;
}

std::string Stats::Json() const {
  std::vector<double> sorted = micros;
  std::sort(sorted.begin(), sorted.end());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return absl::StrFormat(
      "{\"nodes\":%d,\"pods\":%d,\"scheduled\":%d,\"unschedulable\":%d,\"wallSeconds\":%.6f,\"cpuSeconds\":%.6f,"
      "\"p50Micros\":%.3f,\"p99Micros\":%.3f,\"peakRSSBytes\":%d}\n",
      nodes, pods, scheduled, pods - scheduled, wall_seconds, cpu_seconds, Quantile(sorted, 0.50),
      Quantile(sorted, 0.99), int64_t{usage.ru_maxrss} * 1024);
}

}  // namespace berth::schedsim
