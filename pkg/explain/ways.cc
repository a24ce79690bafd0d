#include "pkg/explain/ways.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "pkg/explain/output.h"

namespace berth::explain {
namespace {

// A node on which a way helps.
struct Opened {
  std::string node;
  const std::vector<Remedy>* remedies = nullptr;
  double effort = 0;
};

// Returns the lower median of a shortage over all nodes as text. Empty if the change has no amount.
std::string MedianOf(const std::vector<Opened>& opened, size_t change) {
  const std::string& resource = (*opened[0].remedies)[change].resource;
  if (resource.empty()) return {};
  std::vector<int64_t> amounts;
  for (const Opened& o : opened) amounts.push_back((*o.remedies)[change].shortage);
  auto middle = amounts.begin() + static_cast<ptrdiff_t>((amounts.size() - 1) / 2);
  std::nth_element(amounts.begin(), middle, amounts.end());
  return AmountOf(resource, *middle);
}

// Returns the way that consists of the changes of the node with the least effort. REQUIRES: `opened` is not empty, and
// the remedies of all nodes have the same kinds.
Way WayOf(std::vector<Opened> opened) {
  std::sort(opened.begin(), opened.end(),
            [](const Opened& a, const Opened& b) { return std::tie(a.effort, a.node) < std::tie(b.effort, b.node); });
  Way way;
  way.effort = opened[0].effort;
  const std::vector<Remedy>& nearest = *opened[0].remedies;
  for (size_t i = 0; i < nearest.size(); ++i) {
    way.kinds.push_back(nearest[i].kind);
    way.changes.push_back(nearest[i].text);
    way.medians.push_back(MedianOf(opened, i));
    way.cost += static_cast<int>(nearest[i].cost);
    way.possible = way.possible && nearest[i].possible;
  }
  for (Opened& o : opened) way.nodes.push_back(std::move(o.node));
  return way;
}

}  // namespace

std::vector<Way> WaysToFit(const std::vector<std::pair<std::string, std::vector<Remedy>>>& by_node) {
  std::map<std::vector<std::string>, std::vector<Opened>> by_kinds;
  for (const auto& [node, remedies] : by_node) {
    if (remedies.empty()) continue;
    std::vector<std::string> kinds;
    Opened opened{node, &remedies};
    for (const Remedy& r : remedies) {
      kinds.push_back(r.kind);
      opened.effort += r.effort;
    }
    by_kinds[kinds].push_back(std::move(opened));
  }
  std::vector<Way> out;
  for (auto& [kinds, opened] : by_kinds) out.push_back(WayOf(std::move(opened)));
  std::stable_sort(out.begin(), out.end(), [](const Way& a, const Way& b) {
    return std::tuple(!a.possible, a.cost, a.effort, b.nodes.size()) <
           std::tuple(!b.possible, b.cost, b.effort, a.nodes.size());
  });
  return out;
}

std::string Describe(const Way& way) {
  std::string out = absl::StrCat(absl::StrJoin(way.changes, " and "), " on ");
  if (way.nodes.size() == 1) return absl::StrCat(out, way.nodes[0]);
  const std::string count = Counted(static_cast<int64_t>(way.nodes.size()), "node");
  if (!way.possible) return absl::StrCat(out, way.nodes[0], ", the nearest of ", count);
  std::vector<std::string> medians;
  for (const std::string& m : way.medians) {
    if (!m.empty()) medians.push_back(m);
  }
  if (medians.empty()) return absl::StrCat(out, count, " (", Some(way.nodes, 3), ")");
  return absl::StrCat(out, way.nodes[0], "; median ", absl::StrJoin(medians, ", "), "; ", count);
}

}  // namespace berth::explain
