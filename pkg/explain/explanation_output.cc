// The table and the data formats of an explanation.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>

#include "pkg/api/json_writer.h"
#include "pkg/explain/explanation.h"
#include "pkg/explain/output.h"
#include "pkg/util/contract.h"

namespace berth::explain {
namespace {

using scheduler::Decision;
using scheduler::Verdict;
using PredicateResult = scheduler::GenericScheduler::PredicateResult;

// Up to this many nodes have a line of their own in a table; beyond, nodes with the same outcome share one.
constexpr size_t kMostNodes = 40;
constexpr size_t kMostScores = 20;
constexpr size_t kMostListedWays = 10;

std::string Shown(const PredicateResult& j) {
  if (j.verdict == Verdict::kFits) return "ok";
  if (j.verdict == Verdict::kError) return "error: " + j.error.text;
  std::vector<std::string> texts;
  for (const auto& r : j.reasons) texts.push_back(r.text.string());
  return absl::StrJoin(texts, "; ");
}

std::string Headline(const Explanation& e) {
  std::string out = absl::StrCat("Pod ", e.pod->meta.Key());
  if (!e.scenario.empty()) absl::StrAppend(&out, " of scenario ", e.scenario);
  if (!e.now_on.empty()) absl::StrAppend(&out, ", now on ", e.now_on.string(), ", would be decided anew:");
  if (e.placed_before > 0) {
    absl::StrAppend(&out, ", behind ", Counted(static_cast<int64_t>(e.placed_before), "other pending pod"));
  }
  if (e.decision.outcome == Decision::Outcome::kPlaced) {
    return absl::StrCat(out, e.now_on.empty() ? ": goes to " : " goes to ", e.decision.host.string(), ", ", e.feasible,
                        " of ", Counted(static_cast<int64_t>(e.nodes), "node"), " fit\n");
  }
  if (e.decision.outcome != Decision::Outcome::kUnfit) {
    return absl::StrCat(out, ": cannot be evaluated: ", e.decision.error, "\n");
  }
  return absl::StrCat(out, ": fits nowhere: ", e.decision.error, "\n");
}

// Predicates that every node passes have no column but are listed below the table.
std::string PredicateTable(const Explanation& e) {
  std::vector<size_t> failing;
  std::vector<std::string> passing;
  for (size_t i = 0; i < e.predicates.size(); ++i) {
    bool all = std::all_of(e.by_node.begin(), e.by_node.end(),
                           [&](const auto& n) { return n.results[i].verdict == Verdict::kFits; });
    if (all) {
      passing.push_back(e.predicates[i]);
    } else {
      failing.push_back(i);
    }
  }
  std::string out = "\nPredicates, all of them evaluated on every node:\n";
  if (!failing.empty()) {
    std::vector<std::vector<std::string>> rows(1, {"NODE"});
    for (size_t i : failing) rows[0].push_back(e.predicates[i]);
    auto cells = [&](const Explanation::NodeView& n) {
      std::vector<std::string> c;
      for (size_t i : failing) c.push_back(Shown(n.results[i]));
      return c;
    };
    if (e.by_node.size() <= kMostNodes) {
      for (const auto& n : e.by_node) {
        std::vector<std::string> c = cells(n);
        c.insert(c.begin(), n.name);
        rows.push_back(std::move(c));
      }
    } else {
      std::map<std::vector<std::string>, std::vector<std::string>> alike;
      for (const auto& n : e.by_node) alike[cells(n)].push_back(n.name);
      for (const auto& [c, names] : alike) {
        rows.push_back({names.size() == 1 ? names[0] : absl::StrCat(names.size(), " nodes (", Some(names, 2), ")")});
        rows.back().insert(rows.back().end(), c.begin(), c.end());
      }
    }
    out += Table(rows);
  }
  if (!passing.empty()) absl::StrAppend(&out, "ok on every node: ", absl::StrJoin(passing, ", "), "\n");
  return out;
}

std::string WhyChosen(const Explanation& e) {
  const auto& t = e.trace;
  std::string host = e.decision.host.string();
  if (t.totals.empty()) return "Only one node fits, so none was scored.\n";
  if (t.ties <= 1) return absl::StrCat(host, " has the highest total.\n");
  return absl::StrCat(host, " is number ", t.round_robin % t.ties + 1, " of ", t.ties,
                      " nodes with the highest total, ", OrderOfTies(t), "; they win in turn (decision ", t.round_robin,
                      " modulo ", t.ties, ").\n");
}

std::string ScoreTable(const Explanation& e) {
  const auto& t = e.trace;
  if (t.totals.empty()) return {};
  std::vector<std::vector<std::string>> rows(1, {"NODE"});
  for (const auto& p : t.priorities) rows[0].push_back(absl::StrCat(p.name, " x", p.weight));
  rows[0].push_back("TOTAL");
  std::vector<size_t> order = Ranking(e);
  for (size_t k = 0; k < std::min(order.size(), kMostScores); ++k) {
    size_t i = order[k];
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(absl::StrCat(t.feasible[i] == e.decision.host ? "* " : "  ", t.feasible[i].string()));
    for (const auto& p : t.priorities) {
      row.push_back(absl::StrCat(p.scores[i], p.weight == 1 ? "" : absl::StrCat(" = ", p.scores[i] * p.weight)));
    }
    row.push_back(absl::StrCat(t.totals[i]));
  }
  std::string out = absl::StrCat("\nPriorities, scores of 0 to ", e.max_score, " times weight:\n", Table(rows));
  if (order.size() > kMostScores) {
    absl::StrAppend(&out, "and ", order.size() - kMostScores, " nodes with less or the same (-o json has all)\n");
  }
  return out;
}

std::string PreemptionText(const Explanation& e) {
  const scheduler::Preemption& p = e.preemption;
  std::string priority = absl::StrCat("priority ", e.pod->Priority());
  if (!p.error.empty()) return absl::StrCat("Preemption (", priority, ") fails: ", p.error, "\n");
  if (p.node.empty())
    return absl::StrCat("Preemption (", priority, ") finds no node where evicting pods would help.\n");
  std::vector<std::string> names;
  for (const api::PodPtr& v : p.victims) names.push_back(absl::StrCat(v->meta.Key(), " (", v->Priority(), ")"));
  return absl::StrCat("Preemption (", priority, ") would evict ", names.empty() ? "nobody" : absl::StrJoin(names, ", "),
                      " from ", p.node.string(), ".\n");
}

// Returns the way that was tried for the node, or null.
const Way* WayFor(const Explanation& e, const std::string& node) {
  const auto way = std::find_if(e.ways.begin(), e.ways.end(), [&](const Way& w) { return w.nodes[0] == node; });
  return way == e.ways.end() ? nullptr : &*way;
}

void WriteJudgements(const Explanation& e, api::JsonWriter* out) {
  out->Key("nodes").Array();
  for (const auto& n : e.by_node) {
    out->Object().Member("node", n.name);
    if (const size_t first = n.FirstFailing(); first < e.predicates.size()) {
      out->Member("stoppedFirstBy", e.predicates[first]);
    }
    out->Key("predicates").Object();
    for (size_t i = 0; i < e.predicates.size(); ++i) {
      const PredicateResult& j = n.results[i];
      out->Key(e.predicates[i]).Object().Member("fits", j.verdict == Verdict::kFits);
      if (j.verdict == Verdict::kError) out->Member("error", j.error.text);
      if (j.verdict == Verdict::kFails) {
        std::vector<std::string> texts;
        for (const auto& r : j.reasons) texts.push_back(r.text.string());
        out->Key("reasons").Texts(texts);
        // Where else the pod would fit is only true of one that is placed.
        const bool placed = e.decision.outcome == Decision::Outcome::kPlaced && !j.detail.elsewhere.empty();
        const std::string detail = placed ? absl::StrCat(j.detail.text, "; ", j.detail.elsewhere) : j.detail.text;
        if (!detail.empty()) out->Member("detail", detail);
      }
      out->End();
    }
    out->End();
    if (const Way* way = WayFor(e, n.name)) out->Key("wouldFitAfter").Texts(way->changes);
    out->End();
  }
  out->End();
}

void WriteScores(const Explanation& e, api::JsonWriter* out) {
  const auto& t = e.trace;
  out->Key("scores").Array();
  for (size_t i : Ranking(e)) {
    out->Object().Member("node", t.feasible[i].str()).Key("priorities").Object();
    for (const auto& p : t.priorities) {
      out->Key(p.name).Object().Member("score", p.scores[i]).Member("weight", p.weight);
      out->Member("weighted", p.scores[i] * p.weight).End();
    }
    out->End().Member("total", t.totals[i]).End();
  }
  out->End();
}

}  // namespace

std::string ExplanationTable(const Explanation& e) {
  std::string out;
  if (std::string warning = DifferenceWarning(e); !warning.empty()) absl::StrAppend(&out, warning, "\n\n");
  absl::StrAppend(&out, Headline(e));
  if (e.decision.outcome == Decision::Outcome::kPlaced) absl::StrAppend(&out, WhyChosen(e));
  if (!e.by_node.empty()) absl::StrAppend(&out, PredicateTable(e));
  absl::StrAppend(&out, ScoreTable(e));
  if (e.preemption_tried) absl::StrAppend(&out, "\n", PreemptionText(e));
  if (!e.ways.empty()) {
    out += "\nWhat would make it fit, the nearest first:\n";
    for (size_t i = 0; i < std::min(e.ways.size(), kMostListedWays); ++i) {
      absl::StrAppend(&out, "  ", Describe(e.ways[i]), "\n");
    }
    if (e.ways.size() > kMostListedWays) {
      absl::StrAppend(&out, "  and ", e.ways.size() - kMostListedWays, " other ways (-o json has all)\n");
    }
  }
  return out;
}

void WriteWay(const Way& w, api::JsonWriter* out) {
  out->Object().Key("changes").Texts(w.changes).Member("possible", w.possible).Member("cost", int64_t{w.cost});
  out->Key("kinds").Texts(w.kinds).Key("medians").Texts(w.medians);
  out->Key("nodes").Texts(w.nodes);
  if (!w.moves.empty()) out->Key("moves").Texts(w.moves);
  if (!w.ending.empty()) out->Key("ending").Texts(w.ending);
  out->End();
}

std::string ExplanationData(const Explanation& e, std::string_view format) {
  BERTH_REQUIRES(format == "json" || format == "yaml");
  api::JsonWriter out;
  out.Object().Member("apiVersion", "schedsim/v1").Member("kind", "Explanation");
  if (!e.scenario.empty()) out.Member("scenario", e.scenario);
  out.Member("pod", e.pod->meta.Key());
  if (!e.now_on.empty()) out.Member("nowOn", e.now_on.str());
  if (!e.admission.empty()) out.Key("admission").Texts(e.admission);
  out.Member("placedBefore", static_cast<int64_t>(e.placed_before)).Member("host", e.decision.host.str());
  if (e.decision.outcome != Decision::Outcome::kPlaced) out.Member("error", e.decision.error);
  if (!e.decision.difference.empty()) out.Member("incrementalDecisionDiffers", e.decision.difference);
  out.Member("nodesFeasible", static_cast<int64_t>(e.feasible)).Member("nodesListed", static_cast<int64_t>(e.nodes));
  if (e.decision.outcome == Decision::Outcome::kUnfit && e.decision.failures != nullptr) {
    out.Key("reasons").Object();
    for (const auto& [reason, count] : e.decision.failures->Histogram()) out.Member(reason, count);
    out.End();
  }
  if (!e.trace.totals.empty()) {
    out.Key("tie").Object().Member("nodes", static_cast<int64_t>(e.trace.ties));
    out.Member("roundRobin", static_cast<int64_t>(e.trace.round_robin)).End();
    WriteScores(e, &out);
  }
  WriteJudgements(e, &out);
  if (e.preemption_tried) {
    std::vector<std::string> victims;
    for (const api::PodPtr& v : e.preemption.victims) victims.push_back(v->meta.Key());
    out.Key("preemption").Object().Member("node", e.preemption.node.str()).Key("victims").Texts(victims).End();
  }
  if (e.decision.outcome != Decision::Outcome::kPlaced) {
    out.Key("waysToFit").Array();
    for (const Way& w : e.ways) WriteWay(w, &out);
    out.End();
    if (!e.awaited.empty()) {
      out.Key("waitsFor").Object().Member("node", e.pod->nominated_node_name.str()).Key("pods").Texts(e.awaited).End();
    }
    if (!e.lacking.empty()) out.Key("noNodeHas").Texts(e.lacking);
  }
  return out.End().Finish(format);
}

}  // namespace berth::explain
