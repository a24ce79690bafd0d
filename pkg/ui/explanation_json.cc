// Explanations are made for every node, which is too much for a page with 5,000 nodes. Nodes that fail for the same
// rule and reason are therefore one group with a few examples.
#include "pkg/ui/explanation_json.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/json_writer.h"
#include "pkg/ui/help.h"

namespace berth::ui {
namespace {

using api::JsonWriter;

constexpr size_t kTopNodes = 10, kExamples = 5, kMostGroups = 100, kMostWays = 10, kMostVictims = 100;

// The first rule that rejects a node.
struct FirstFailure {
  std::string rule, reasons;
  std::string help;  // what the reasons mean
};
// Returns it, or nothing if the node fits.
std::optional<FirstFailure> FirstFailureOf(const explain::Explanation& e, const explain::Explanation::NodeView& view) {
  for (size_t i = 0; i < view.results.size(); ++i) {
    const auto& result = view.results[i];
    if (result.reasons.empty() && result.error.empty()) continue;
    std::vector<std::string> texts;
    for (const auto& r : result.reasons) texts.push_back(r.text.string());
    if (!result.error.empty()) texts.push_back(result.error.text);
    FirstFailure f{i < e.predicates.size() ? e.predicates[i] : "", absl::StrJoin(texts, ", "), HelpFor(result.reasons)};
    if (!result.error.kind.empty()) f.help = HelpFor(scheduler::ReasonOfError(result.error.kind));
    return f;
  }
  return std::nullopt;
}

void Failures(const explain::Explanation& e, JsonWriter* j) {
  struct Alike {
    std::string help;
    std::vector<std::string> nodes;
  };
  std::map<std::pair<std::string, std::string>, Alike> groups;
  for (const auto& view : e.by_node) {
    const auto failure = FirstFailureOf(e, view);
    if (!failure || failure->reasons.empty()) continue;
    Alike& group = groups[{failure->rule, failure->reasons}];
    group.help = failure->help;
    group.nodes.push_back(view.name);
  }
  std::vector<std::pair<int64_t, const std::pair<std::string, std::string>*>> order;
  for (const auto& [failure, alike] : groups) order.emplace_back(-static_cast<int64_t>(alike.nodes.size()), &failure);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  j->Member("failureGroups", static_cast<int64_t>(order.size())).Key("failures").Array();
  for (size_t i = 0; i < std::min(order.size(), kMostGroups); ++i) {
    const auto& [rule, reason] = *order[i].second;
    auto& [help, nodes] = groups[*order[i].second];
    j->Object().Member("rule", rule).Member("question", RuleInWords(rule)).Member("reason", reason);
    j->Member("help", help).Member("nodes", static_cast<int64_t>(nodes.size()));
    nodes.resize(std::min(nodes.size(), kExamples));
    j->Key("examples").Texts(nodes).End();
  }
  j->End();
}

void TopNodes(const explain::Explanation& e, JsonWriter* j) {
  const scheduler::DecisionTrace& t = e.trace;
  std::vector<size_t> order(t.feasible.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (!t.totals.empty()) {
    // The chosen node is one of those with the highest total; it is listed first.
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const bool a_chosen = t.feasible[a] == e.decision.host, b_chosen = t.feasible[b] == e.decision.host;
      return t.totals[a] != t.totals[b] ? t.totals[a] > t.totals[b] : a_chosen && !b_chosen;
    });
  }
  j->Key("rules").Array();
  for (const auto& p : t.priorities) {
    j->Object().Member("name", p.name).Member("question", RuleInWords(p.name)).Member("weight", p.weight).End();
  }
  j->End().Key("top").Array();
  for (size_t n = 0; n < std::min(kTopNodes, order.size()); ++n) {
    const size_t i = order[n];
    j->Object().Member("node", t.feasible[i].str()).Member("chosen", t.feasible[i] == e.decision.host);
    if (!t.totals.empty()) j->Member("total", t.totals[i]);
    j->Key("scores").Array();
    for (const auto& p : t.priorities) {
      j->Object().Member("raw", p.scores[i]).Member("weighted", p.scores[i] * p.weight).End();
    }
    j->End().End();
  }
  j->End();
}

void Preemption(const explain::Explanation& e, JsonWriter* j) {
  if (!e.preemption_tried) return;
  std::vector<std::string> victims;
  for (const auto& v : e.preemption.victims) {
    if (victims.size() < kMostVictims) victims.push_back(v->meta.Key());
  }
  j->Key("preemption").Object().Member("node", e.preemption.node.str());
  j->Member("victimCount", static_cast<int64_t>(e.preemption.victims.size())).Key("victims").Texts(victims);
  j->Member("error", e.preemption.error).End();
}

}  // namespace

void ExplanationJson(const explain::Explanation& e, JsonWriter* j) {
  const auto number = [](size_t n) { return static_cast<int64_t>(n); };
  j->Object().Member("node", e.decision.host.str()).Member("error", e.decision.error);
  j->Member("nodes", number(e.nodes)).Member("feasible", number(e.feasible)).Member("ties", number(e.decision.ties));
  j->Member("maxScore", e.max_score);
  Failures(e, j);
  TopNodes(e, j);
  std::vector<std::string> ways;
  for (const explain::Way& w : e.ways) {
    // Ways that are not possible are shown only if there are no others.
    if (ways.size() < kMostWays && (w.possible || !e.ways[0].possible)) ways.push_back(explain::Describe(w));
  }
  j->Key("wouldHelp").Texts(ways).Key("ways").Array();
  for (size_t i = 0; i < ways.size(); ++i) {
    const explain::Way& w = e.ways[i];
    j->Object().Member("text", ways[i]).Member("possible", w.possible).Member("node", w.nodes[0]);
    j->Key("moves").Texts(w.moves).Key("ending").Texts(w.ending).End();
  }
  j->End().Key("lacking").Texts(e.lacking).Key("awaited").Texts(e.awaited);
  Preemption(e, j);
  j->End();
}

}  // namespace berth::ui
