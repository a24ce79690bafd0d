#include "cmd/schedsim/ladder.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "cmd/schedsim/progress.h"
#include "pkg/api/json_writer.h"
#include "pkg/explain/output.h"
#include "pkg/lab/picture.h"
#include "pkg/util/contract.h"

namespace berth::schedsim {
namespace {

using Kind = lab::PodDifference::Kind;

std::string TextOf(Kind kind) {
  switch (kind) {
    case Kind::kElsewhere:
      return "elsewhere";
    case Kind::kNoLongerFits:
      return "no longer fits";
    case Kind::kNewlyFits:
      break;
  }
  return "newly fits";
}

// Shares that differ by less are the same for a reader.
constexpr double kVisible = 0.0005;

std::vector<std::string> WhatHurts(const UpgradeStep& step, const lab::Metrics& before, const lab::Metrics& after) {
  std::vector<std::string> out;
  if (step.no_longer_fit > 0) out.push_back(explain::Counted(step.no_longer_fit, "pod") + " newly pending");
  if (after.nodes_in_use > before.nodes_in_use) {
    out.push_back(
        explain::Counted(static_cast<int64_t>(after.nodes_in_use) - static_cast<int64_t>(before.nodes_in_use), "node") +
        " more in use");
  }
  auto worse = [&](const char* what, double from, double to) {
    if (to < from + kVisible) return;
    out.push_back(absl::StrFormat("%s %.1f%%, was %.1f%%", what, 100 * to, 100 * from));
  };
  worse("imbalance", before.imbalance, after.imbalance);
  worse("zone skew", before.zone_skew, after.zone_skew);
  return out;
}

void CountCauses(UpgradeStep* step) {
  std::map<std::pair<Kind, std::string>, int64_t> pods;
  for (const lab::PodDifference& d : step->differences) {
    ++pods[{d.kind, d.rule}];
    ++(d.kind == Kind::kElsewhere   ? step->elsewhere
       : d.kind == Kind::kNewlyFits ? step->newly_fit
                                    : step->no_longer_fit);
  }
  for (const auto& [key, n] : pods) step->causes.push_back({key.first, key.second, n});
  std::stable_sort(step->causes.begin(), step->causes.end(), [](const UpgradeCause& a, const UpgradeCause& b) {
    const bool a_hurts = a.kind == Kind::kNoLongerFits, b_hurts = b.kind == Kind::kNoLongerFits;
    return a_hurts != b_hurts ? a_hurts : a.pods > b.pods;
  });
}

// Returns the distance of the grid lines for an axis up to `most`: 1, 2 or 5 times a power of ten, with at most six
// steps.
double GridOf(double most) {
  double unit = 1;
  while (true) {
    for (double factor : {1.0, 2.0, 5.0}) {
      if (most / (factor * unit) <= 6) return factor * unit;
    }
    unit *= 10;
  }
}

}  // namespace

absl::StatusOr<std::vector<UpgradeStep>> StepsOfUpgrade(const lab::Scenario& scenario,
                                                        const std::vector<lab::Variant>& variants,
                                                        const std::vector<lab::Trial>& trials) {
  BERTH_REQUIRES(trials.size() == variants.size());
  std::vector<size_t> good;
  for (size_t v = 0; v < variants.size(); ++v) {
    if (trials[v].error.empty()) good.push_back(v);
  }
  const size_t n = good.empty() ? 0 : good.size() - 1;
  std::vector<UpgradeStep> steps(n);
  std::vector<absl::Status> errors(n);
  Progress progress("comparing releases", n);
  lab::RunOnAllCores(
      n,
      [&](size_t i) {
        auto found = lab::CompareByPod(scenario, variants[good[i]], variants[good[i + 1]]);
        errors[i] = found.status();
        if (found.ok()) steps[i].differences = *std::move(found);
      },
      [&](size_t done) { progress.Show(done); });
  for (size_t i = 0; i < n; ++i) {
    if (!errors[i].ok()) return errors[i];
    UpgradeStep& step = steps[i];
    step.from = variants[good[i]].name;
    step.to = variants[good[i + 1]].name;
    CountCauses(&step);
    step.hurts = WhatHurts(step, trials[good[i]].metrics, trials[good[i + 1]].metrics);
  }
  return steps;
}

void WriteSteps(const std::vector<UpgradeStep>& steps, size_t most, explain::Page* page) {
  page->Blank().Line("The upgrade, step by step", explain::Style::kHeading);
  std::vector<std::vector<std::string>> rows = {{"STEP", "PODS", "ELSEWHERE", "PENDING", "PLACED", "WHAT IS WORSE"}};
  std::vector<explain::Style> styles = {explain::Style::kHeading};
  for (const UpgradeStep& s : steps) {
    rows.push_back({absl::StrCat(s.from, " -> ", s.to), absl::StrCat(s.touched()), absl::StrCat(s.elsewhere),
                    absl::StrCat(s.no_longer_fit), absl::StrCat(s.newly_fit),
                    s.hurts.empty() ? "-" : absl::StrJoin(s.hurts, "; ")});
    styles.push_back(s.no_longer_fit > 0 ? explain::Style::kBad : explain::Style::kPlain);
  }
  page->Rows(rows, true, styles).Blank();
  rows = {{"STEP", "PODS", "CHANGE", "RULE THAT MADE THE DIFFERENCE"}};
  for (const UpgradeStep& s : steps) {
    for (const UpgradeCause& c : s.causes) {
      rows.push_back(
          {absl::StrCat(s.from, " -> ", s.to), absl::StrCat(c.pods), TextOf(c.kind), c.rule.empty() ? "-" : c.rule});
    }
  }
  if (rows.size() > 1) page->Rows(rows, true).Blank();
  for (const UpgradeStep& s : steps) {
    if (most == 0 || s.differences.empty()) continue;
    rows = {{"POD", s.from, s.to, "WHY"}};
    auto node = [](scheduler::Symbol name) { return name.empty() ? std::string("-") : name.string(); };
    for (size_t i = 0; i < std::min(most, s.differences.size()); ++i) {
      const lab::PodDifference& d = s.differences[i];
      rows.push_back({d.pod->meta.Key(), node(d.before), node(d.after), d.why});
    }
    page->Rows(rows, true);
    if (s.differences.size() > most) {
      page->Line(absl::StrCat("and ", s.differences.size() - most, " more (-o json lists all)"),
                 explain::Style::kFaint);
    }
    page->Blank();
  }
  page->Line(
      "PODS: that a step touches. ELSEWHERE: placed on another node. PENDING: placed only before. PLACED: only "
      "afterwards. Each release goes on from its own placements, so a pod that moves may move others.",
      explain::Style::kFaint);
}

void StepsJson(const std::vector<UpgradeStep>& steps, bool with_pods, api::JsonWriter* out) {
  out->Key("steps").Array();
  for (const UpgradeStep& s : steps) {
    out->Object().Member("from", s.from).Member("to", s.to).Member("pods", s.touched());
    out->Member("elsewhere", s.elsewhere).Member("noLongerFit", s.no_longer_fit).Member("newlyFit", s.newly_fit);
    out->Key("worse").Texts(s.hurts).Key("causes").Array();
    for (const UpgradeCause& c : s.causes) {
      out->Object().Member("change", TextOf(c.kind)).Member("rule", c.rule).Member("pods", c.pods).End();
    }
    out->End();
    if (!with_pods) {
      out->End();
      continue;
    }
    out->Key("differences").Array();
    for (const lab::PodDifference& d : s.differences) {
      out->Object().Member("pod", d.pod->meta.Key()).Member("change", TextOf(d.kind));
      out->Member("before", d.before.str()).Member("after", d.after.str());
      out->Member("rule", d.rule).Member("why", d.why).End();
    }
    out->End().End();
  }
  out->End();
}

std::string StepsSvg(const std::vector<UpgradeStep>& steps) {
  constexpr double kLeftOfBars = 110, kTopOfBars = 56, kBarsWidth = 560, kRow = 34, kBar = 20, kRight = 60;
  // Of the colours of Okabe and Ito, which people with colour blindness can tell apart.
  struct Part {
    const char *colour, *title;
    int64_t UpgradeStep::*pods;
  };
  constexpr Part kParts[] = {{"#d55e00", "no longer fits", &UpgradeStep::no_longer_fit},
                             {"#0072b2", "elsewhere", &UpgradeStep::elsewhere},
                             {"#009e73", "newly fits", &UpgradeStep::newly_fit}};
  int64_t largest = 1;
  for (const UpgradeStep& s : steps) largest = std::max(largest, s.touched());
  const double grid = GridOf(static_cast<double>(largest));
  const double most = std::ceil(static_cast<double>(largest) / grid) * grid;
  const double bottom = kTopOfBars + kRow * static_cast<double>(steps.size());
  const double width = kLeftOfBars + kBarsWidth + kRight, height = bottom + 72;
  std::string out = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
      "<style>text{font:12px sans-serif;fill:#333}.title{font-size:14px;font-weight:bold}"
      ".grid{stroke:#ddd;stroke-width:1}</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
      "<text x=\"%.0f\" y=\"28\" class=\"title\">Pods that each step of the upgrade touches</text>\n",
      width, height, width, height, kLeftOfBars);
  for (double x = 0; x <= most; x += grid) {
    const double at = kLeftOfBars + x / most * kBarsWidth;
    absl::StrAppendFormat(&out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n", at,
                          kTopOfBars - 6, at, bottom);
    absl::StrAppendFormat(&out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.0f</text>\n", at, bottom + 16, x);
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    const double y = kTopOfBars + kRow * static_cast<double>(i);
    absl::StrAppendFormat(&out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", kLeftOfBars - 10,
                          y + kBar - 5, lab::XmlText(absl::StrCat(steps[i].from, " → ", steps[i].to)));
    double x = kLeftOfBars;
    for (const Part& p : kParts) {
      const double length = static_cast<double>(steps[i].*p.pods) / most * kBarsWidth;
      if (length <= 0) continue;
      absl::StrAppendFormat(&out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" fill=\"%s\"/>\n", x, y,
                            length, kBar, p.colour);
      x += length;
    }
    absl::StrAppendFormat(&out, "<text x=\"%.1f\" y=\"%.1f\">%d</text>\n", x + 6, y + kBar - 5, steps[i].touched());
  }
  double x = kLeftOfBars;
  for (const Part& p : kParts) {
    absl::StrAppendFormat(&out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"14\" fill=\"%s\"/>\n", x,
                          bottom + 36, p.colour);
    absl::StrAppendFormat(&out, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x + 20, bottom + 48, p.title);
    x += 140;
  }
  return out + "</svg>\n";
}

}  // namespace berth::schedsim
