// The default output of an explanation, formatted for the width of the screen.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <map>
#include <set>

#include "pkg/explain/explanation.h"
#include "pkg/explain/output.h"

namespace berth::explain {
namespace {

using scheduler::Decision;
using scheduler::DecisionTrace;
using scheduler::Verdict;
using PredicateResult = scheduler::GenericScheduler::PredicateResult;

constexpr size_t kMostGroups = 12;  // rows of a table
constexpr size_t kMostWays = 5;
constexpr size_t kMostImpossible = 2;
constexpr size_t kMostMoves = 6;

int64_t Int(size_t n) {
  return static_cast<int64_t>(n);
}

std::string ReasonsOf(const PredicateResult& j) {
  if (j.verdict == Verdict::kError) return "error: " + j.error.text;
  std::vector<std::string> texts;
  for (const auto& r : j.reasons) texts.push_back(r.text.string());
  return absl::StrJoin(texts, ", ");
}

void Headline(const Explanation& e, Page* page) {
  std::string pod = absl::StrCat("Pod ", e.pod->meta.Key());
  if (!e.scenario.empty()) absl::StrAppend(&pod, " of scenario ", e.scenario);
  if (e.placed_before > 0) {
    absl::StrAppend(&pod, ", behind ", Counted(Int(e.placed_before), "other pending pod"), ",");
  }
  if (!e.now_on.empty()) absl::StrAppend(&pod, ", now on ", e.now_on.string(), " and decided anew,");
  if (e.decision.outcome == Decision::Outcome::kPlaced) {
    page->Line(absl::StrCat(pod, " goes to ", e.decision.host.string(), ": ", e.feasible, " of ",
                            Counted(Int(e.nodes), "node"), e.feasible == 1 ? " fits." : " fit."),
               Style::kGood);
  } else if (e.decision.outcome != Decision::Outcome::kUnfit) {
    page->Line(absl::StrCat(pod, " cannot be decided: ", e.decision.error), Style::kBad);
  } else {
    page->Line(absl::StrCat(pod, " fits nowhere: ", e.decision.error), Style::kBad);
  }
  if (!e.awaited.empty()) {
    page->Line(absl::StrCat("It is nominated to ", e.pod->nominated_node_name.string(), " and waits for ",
                            Some(e.awaited, kMostMoves), " to end there; nothing else is needed."),
               Style::kGood);
  }
  for (const std::string& sentence : e.lacking) page->Line(sentence, Style::kBad);
  // Every pod gets tolerations, which is not worth a line.
  const bool more = e.admission.size() > 1 || (e.admission.size() == 1 && !e.admission[0].starts_with("tolerations"));
  if (more) page->Line(absl::StrCat("When it was admitted it got: ", absl::StrJoin(e.admission, "; ")));
}

// The nodes that the same predicate rejects first, for the same reasons.
struct Stopped {
  std::string by, because;
  std::vector<std::string> nodes;
  std::map<std::string, size_t> also;  // further reasons, and how many of the nodes have them
};

// Returns the further reasons of these nodes, so that users do not remove only the first obstacle.
std::string AlsoText(const Stopped& group) {
  std::vector<std::string> texts;
  for (const auto& [reason, nodes] : group.also) {
    texts.push_back(nodes == group.nodes.size() ? reason : absl::StrCat(reason, " (", nodes, ")"));
  }
  return absl::StrCat("and also: ", absl::StrJoin(texts, "; "));
}

// Returns the groups in descending order of the number of nodes.
std::vector<Stopped> GroupsOf(const Explanation& e) {
  std::map<std::pair<size_t, std::string>, Stopped> groups;
  for (const auto& node : e.by_node) {
    const size_t first = node.FirstFailing();
    if (first == node.results.size()) continue;
    const std::string because = ReasonsOf(node.results[first]);
    Stopped& group = groups[{first, because}];
    group.by = e.predicates[first];
    group.because = because;
    group.nodes.push_back(node.name);
    std::set<std::string> also;
    for (size_t i = first + 1; i < node.results.size(); ++i) {
      if (node.results[i].verdict != Verdict::kFits) also.insert(ReasonsOf(node.results[i]));
    }
    for (const std::string& reason : also) ++group.also[reason];
  }
  std::vector<Stopped> out;
  for (auto& [key, group] : groups) out.push_back(std::move(group));
  std::stable_sort(out.begin(), out.end(),
                   [](const Stopped& a, const Stopped& b) { return a.nodes.size() > b.nodes.size(); });
  return out;
}

// Writes which predicates rejected how many nodes first.
void WriteStopped(const Explanation& e, Page* page) {
  const std::vector<Stopped> groups = GroupsOf(e);
  if (groups.empty()) return;
  page->Blank();
  std::vector<std::vector<std::string>> rows = {{"NODES", "WHAT STOPPED THE POD FIRST"}};
  std::vector<Style> styles = {Style::kHeading};
  for (size_t i = 0; i < std::min(groups.size(), kMostGroups); ++i) {
    const Stopped& g = groups[i];
    rows.push_back({absl::StrCat(g.nodes.size()), absl::StrCat(g.because, " (", g.by, "): ", Some(g.nodes, 2))});
    styles.push_back(Style::kPlain);
    if (g.also.empty()) continue;
    rows.push_back({"", AlsoText(g)});
    styles.push_back(Style::kFaint);
  }
  page->Rows(rows, true, styles);
  if (groups.size() > kMostGroups) {
    page->Line(absl::StrCat("and ", Counted(Int(groups.size() - kMostGroups), "other reason"), " (-o wide)"));
  }
}

void WritePassed(const Explanation& e, Page* page) {
  std::vector<std::string> passed;
  for (size_t i = 0; i < e.predicates.size(); ++i) {
    bool all = std::all_of(e.by_node.begin(), e.by_node.end(),
                           [&](const auto& n) { return n.results[i].verdict == Verdict::kFits; });
    if (all) passed.push_back(e.predicates[i]);
  }
  if (passed.empty() || e.by_node.empty()) return;
  page->Line(absl::StrCat("Passed on every node: ", absl::StrJoin(passed, ", ")), Style::kFaint);
}

void WriteWhyChosen(const Explanation& e, Page* page) {
  const DecisionTrace& t = e.trace;
  const std::string host = e.decision.host.string();
  if (t.totals.empty()) {
    page->Line("Only one node fits, so none was scored.");
  } else if (t.ties <= 1) {
    page->Line(absl::StrCat(host, " has the highest total."));
  } else if (!e.ties.empty()) {
    page->Line(absl::StrCat(host, " is number ", t.round_robin % t.ties + 1, " of ", t.ties,
                            " nodes with the highest total, ", OrderOfTies(t), "; ", e.ties, "."));
  } else {
    page->Line(absl::StrCat(host, " is number ", t.round_robin % t.ties + 1, " of ", t.ties,
                            " nodes with the highest total, ", OrderOfTies(t), "; they win in turn (decision ",
                            t.round_robin, " modulo ", t.ties, ")."));
  }
}

// Returns "LeastRequested" for "LeastRequestedPriority": headings are short; the line below the table has full names.
std::string ShortName(const std::string& priority) {
  return std::string(absl::StripSuffix(priority, "Priority"));
}

// A row of the table of scores, for one or more nodes.
struct ScoreRow {
  std::string node;
  std::vector<std::string> cells;
  size_t nodes = 1;
};

// Returns the row of the chosen node, followed by one row for each distinct combination of the other nodes' scores.
std::vector<ScoreRow> FoldedRows(const Explanation& e, const std::vector<size_t>& columns) {
  const DecisionTrace& t = e.trace;
  std::vector<ScoreRow> rows;
  std::map<std::vector<std::string>, size_t> row_of;
  for (size_t i : Ranking(e)) {
    std::vector<std::string> cells = {absl::StrCat(t.totals[i])};
    for (size_t c : columns) cells.push_back(absl::StrCat(t.priorities[c].scores[i]));
    if (!rows.empty()) {
      auto [at, is_new] = row_of.try_emplace(cells, rows.size());
      if (!is_new) {
        ++rows[at->second].nodes;
        continue;
      }
    }
    rows.push_back({t.feasible[i].string(), std::move(cells), 1});
  }
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].nodes > 1) rows[i].node = absl::StrCat(rows[i].nodes, " more nodes");
  }
  return rows;
}

// Writes the scores in which nodes differ as a table, and the others in one line.
void WriteScores(const Explanation& e, Page* page) {
  const DecisionTrace& t = e.trace;
  if (t.totals.empty()) return;
  std::vector<size_t> differing;
  std::vector<std::string> same;
  for (size_t p = 0; p < t.priorities.size(); ++p) {
    const auto& scores = t.priorities[p].scores;
    const bool equal = std::all_of(scores.begin(), scores.end(), [&](auto s) { return s == scores[0]; });
    if (!equal) {
      differing.push_back(p);
      continue;
    }
    const auto weight = t.priorities[p].weight;
    same.push_back(absl::StrCat(t.priorities[p].name, " ", scores[0], weight == 1 ? "" : absl::StrCat(" x ", weight)));
  }
  page->Blank().Line(absl::StrCat("Scores of 0 to ", e.max_score, ", times their weight:"), Style::kHeading);
  std::vector<std::vector<std::string>> rows = {{"NODE", "TOTAL"}};
  std::vector<Style> styles = {Style::kHeading};
  for (size_t p : differing) {
    const auto weight = t.priorities[p].weight;
    rows[0].push_back(absl::StrCat(ShortName(t.priorities[p].name), weight == 1 ? "" : absl::StrCat(" x", weight)));
  }
  const std::vector<ScoreRow> folded = FoldedRows(e, differing);
  size_t left = 0;
  for (size_t i = 0; i < folded.size(); ++i) {
    if (i >= kMostGroups) {
      left += folded[i].nodes;
      continue;
    }
    rows.push_back({folded[i].node});
    rows.back().insert(rows.back().end(), folded[i].cells.begin(), folded[i].cells.end());
    styles.push_back(i == 0 ? Style::kGood : Style::kPlain);
  }
  page->Rows(rows, true, styles);
  if (left > 0) page->Line(absl::StrCat("and ", Counted(Int(left), "more node"), " with less or the same (-o wide)"));
  if (!same.empty()) page->Line(absl::StrCat("The same on every node: ", absl::StrJoin(same, ", ")), Style::kFaint);
}

void WritePreemption(const Explanation& e, Page* page) {
  if (!e.preemption_tried) return;
  const scheduler::Preemption& p = e.preemption;
  const std::string begin = absl::StrCat("Preemption (priority ", e.pod->Priority(), ") ");
  page->Blank();
  if (!p.error.empty()) {
    // The errors of release 1.29 begin with "preemption: ", which the line already says.
    page->Line(absl::StrCat(begin, "fails: ", std::string(absl::StripPrefix(p.error, "preemption: "))), Style::kBad);
  } else if (p.node.empty()) {
    page->Line(absl::StrCat(begin, "finds no node where evicting pods would help."));
  } else {
    std::vector<std::string> names;
    for (const api::PodPtr& v : p.victims) names.push_back(absl::StrCat(v->meta.Key(), " (", v->Priority(), ")"));
    page->Line(absl::StrCat(begin, "would evict ", names.empty() ? "nobody" : absl::StrJoin(names, ", "), " from ",
                            p.node.string(), "."));
  }
}

}  // namespace

void WriteWays(const std::vector<Way>& ways, Page* page) {
  if (ways.empty()) return;
  page->Blank().Line("What would make it fit, the least effort first:", Style::kHeading);
  // Ways that are not possible are shown only if there are no others.
  const auto possible =
      static_cast<size_t>(std::count_if(ways.begin(), ways.end(), [](const Way& w) { return w.possible; }));
  const size_t shown = std::min(possible > 0 ? possible : kMostImpossible, std::min(ways.size(), kMostWays));
  for (size_t i = 0; i < shown; ++i) {
    page->Line(absl::StrCat("  ", Describe(ways[i])));
    if (!ways[i].ending.empty()) {
      page->Line(
          absl::StrCat("    on ", ways[i].nodes[0], " these are ending already: ", Some(ways[i].ending, kMostMoves)),
          Style::kFaint);
    }
    if (ways[i].moves.empty()) continue;
    page->Line(
        absl::StrCat("    for ", ways[i].nodes[0], " these would have to move: ", Some(ways[i].moves, kMostMoves)),
        Style::kFaint);
  }
  if (ways.size() > shown) {
    page->Line(absl::StrCat("  and ", Counted(Int(ways.size() - shown), "other way"),
                            possible > 0 ? " (-o json has all)" : ", none of them possible either (-o json has all)"));
  }
}

void WriteExplanation(const Explanation& e, Page* page) {
  if (std::string warning = DifferenceWarning(e); !warning.empty()) page->Line(warning, Style::kBad).Blank();
  Headline(e, page);
  if (e.decision.outcome == Decision::Outcome::kPlaced) WriteWhyChosen(e, page);
  WriteScores(e, page);
  WriteStopped(e, page);
  WritePassed(e, page);
  WritePreemption(e, page);
  WriteWays(e.ways, page);
}

}  // namespace berth::explain
