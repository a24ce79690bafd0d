#include "pkg/lab/mix_bound.h"

#include <algorithm>
#include <cmath>

namespace berth::lab {
namespace {

constexpr double kTiny = 1e-9;

// Maximises objective * x under rows * x <= limit and x >= 0, by the simplex method with Bland's rule, which ends.
// REQUIRES: no limit is negative, and the maximum is finite.
class Simplex {
 public:
  Simplex(size_t variables, size_t most_rows) : variables_(variables), width_(variables + most_rows + 1) {
    objective_.assign(width_, 0);
  }
  void SetObjective(size_t variable, double value) { objective_[variable] = -value; }
  // Adds a row and returns its values, to be filled in by variable.
  std::vector<double>& AddRow(double limit) {
    std::vector<double>& row = rows_.emplace_back(width_, 0);
    row[variables_ + rows_.size() - 1] = 1;
    row.back() = limit;
    basis_.push_back(variables_ + rows_.size() - 1);
    return row;
  }
  void Solve() {
    while (true) {
      size_t in = 0;
      while (in + 1 < width_ && objective_[in] >= -kTiny) ++in;
      if (in + 1 == width_) return;
      size_t out = rows_.size();
      for (size_t i = 0; i < rows_.size(); ++i) {
        if (rows_[i][in] <= kTiny) continue;
        if (out == rows_.size()) {
          out = i;
          continue;
        }
        const double ratio = rows_[i].back() / rows_[i][in], least = rows_[out].back() / rows_[out][in];
        if (ratio < least - kTiny || (ratio < least + kTiny && basis_[i] < basis_[out])) out = i;
      }
      if (out == rows_.size()) return;
      Pivot(out, in);
    }
  }
  double Maximum() const { return objective_.back(); }
  // Returns by how much the maximum grows for each unit of a row's limit.
  double PriceOf(size_t row) const { return objective_[variables_ + row]; }

 private:
  void Pivot(size_t out, size_t in) {
    std::vector<double>& row = rows_[out];
    const double by = row[in];
    for (double& value : row) value /= by;
    auto clear = [&](std::vector<double>* other) {
      const double times = (*other)[in];
      if (times == 0) return;
      for (size_t i = 0; i < width_; ++i) (*other)[i] -= times * row[i];
    };
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (i != out) clear(&rows_[i]);
    }
    clear(&objective_);
    basis_[out] = in;
  }

  const size_t variables_, width_;
  std::vector<std::vector<double>> rows_;
  std::vector<size_t> basis_;
  std::vector<double> objective_;
};

}  // namespace

// The dual program is solved, because zero is one of its solutions: its variables are a price of each resource on each
// offer (at most the offer's price for a whole node), in the cluster, and for each demand (at most that of any place
// where it fits). The prices of its rows are the numbers of nodes.
MixBound BoundOf(const MixProblem& p) {
  const size_t offers = p.price.size(), resources = p.free.size(), demands = p.demands.size();
  std::vector<double> unit(resources, 0);  // amounts are scaled to these
  for (size_t r = 0; r < resources; ++r) {
    for (size_t t = 0; t < offers; ++t) unit[r] = std::max(unit[r], p.empty[t][r]);
    if (unit[r] <= 0) unit[r] = 1;
  }
  const auto on_offer = [&](size_t t, size_t r) { return t * resources + r; };
  const auto in_cluster = [&](size_t r) { return offers * resources + r; };
  const auto of_demand = [&](size_t d, size_t r) { return (offers + 1 + d) * resources + r; };
  Simplex simplex((offers + 1 + demands) * resources, offers + demands * resources * (offers + 1));
  for (size_t t = 0; t < offers; ++t) {
    std::vector<double>& row = simplex.AddRow(p.price[t]);
    for (size_t r = 0; r < resources; ++r) row[on_offer(t, r)] = p.empty[t][r] / unit[r];
  }
  for (size_t r = 0; r < resources; ++r) simplex.SetObjective(in_cluster(r), -p.free[r] / unit[r]);
  for (size_t d = 0; d < demands; ++d) {
    for (size_t r = 0; r < resources; ++r) {
      if (p.demands[d].amount[r] <= 0) continue;
      simplex.SetObjective(of_demand(d, r), p.demands[d].amount[r] / unit[r]);
      std::vector<double>& here = simplex.AddRow(0);
      here[of_demand(d, r)] = 1;
      here[in_cluster(r)] = -1;
      for (size_t t = 0; t < offers; ++t) {
        if (!p.demands[d].fits[t]) continue;
        std::vector<double>& row = simplex.AddRow(0);
        row[of_demand(d, r)] = 1;
        row[on_offer(t, r)] = -1;
      }
    }
  }
  simplex.Solve();
  MixBound bound;
  bound.price = std::max(0.0, simplex.Maximum());
  for (size_t t = 0; t < offers; ++t) bound.nodes.push_back(std::max(0.0, simplex.PriceOf(t)));
  return bound;
}

}  // namespace berth::lab
