// The plugins NodeResourcesFit and NodeResourcesBalancedAllocation of release 1.29. The score of the former is also
// that of the plugins NodeResourcesLeastAllocated, NodeResourcesMostAllocated and RequestedToCapacityRatio of 1.19.
// Source: fit.go, resource_allocation.go, least_allocated.go, most_allocated.go, requested_to_capacity_ratio.go and
// balanced_allocation.go in pkg/scheduler/framework/plugins/noderesources.
#include <algorithm>
#include <cmath>

#include "pkg/api/resource_names.h"
#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/keep_rows.h"
#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/scheduler/algorithm/noderesources/resource_allocation.h"
#include "pkg/scheduler/algorithm/noderesources/row_block.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/cache/scalar_lookup.h"

namespace berth::scheduler::noderesources {
namespace {

const Symbol kCpu("cpu"), kMemory("memory"), kEphemeral("ephemeral-storage");

// Returns whether too little is left. Unlike in 1.10, a resource that the pod does not request is never lacking, even
// if the node is overcommitted.
bool Lacks(int64_t wanted, int64_t allocatable, int64_t used) {
  return wanted > 0 && wanted > SaturatingSub(allocatable, used);
}

// The Filter: a node fits if it may have one more pod and enough is left of each requested resource. All reasons are
// reported. Only extended resources can be ignored: those in the list, and those whose name has a listed group before
// the first slash.
class FitResources final : public ColumnCheck {
 public:
  FitResources(const PodContext& ctx, const FitOptions& options)
      : cache_(ctx.cache), want_(ctx.info.request), too_small_is_final_(options.too_small_is_final) {
    for (const auto& s : want_.scalars) {
      const std::string name = s.first.string();
      auto listed = [](const std::vector<std::string>& list, const std::string& text) {
        return std::find(list.begin(), list.end(), text) != list.end();
      };
      const bool ignored = api::IsExtendedResourceName(name) &&
                           (listed(options.ignored_resources, name) ||
                            listed(options.ignored_resource_groups, name.substr(0, name.find('/'))));
      if (!ignored) scalars_.push_back(s);
    }
  }

  Verdict Check(Row row) override { return Fits(cache_.columns(), row) ? Verdict::kFits : Verdict::kFails; }
  void Explain(Row row, std::vector<FailureReason>* out) override {
    const Columns& c = cache_.columns();
    if (c.pod_count[row] + 1 > c.alloc_pods[row]) out->push_back(reasons::kTooManyPods);
    const auto add = [&](Symbol name, int64_t wanted, int64_t allocatable, int64_t used) {
      if (!Lacks(wanted, allocatable, used)) return;
      out->push_back(reasons::Insufficient(name));
      out->back().unresolvable = too_small_is_final_ && wanted > allocatable;
    };
    add(kCpu, want_.milli_cpu, c.alloc_cpu[row], c.used_cpu[row]);
    add(kMemory, want_.memory, c.alloc_memory[row], c.used_memory[row]);
    add(kEphemeral, want_.ephemeral_storage, c.alloc_ephemeral[row], c.used_ephemeral[row]);
    const NodeRow& r = cache_.row(row);
    for (const auto& [name, amount] : scalars_)
      add(name, amount, ScalarOf(r.allocatable, name), ScalarOf(r.requested, name));
  }
  int ReasonBits() const override {
    const size_t bits = (kAmounts + scalars_.size()) * (too_small_is_final_ ? 2 : 1);
    return bits <= kMostReasonBits ? static_cast<int>(bits) : 0;
  }
  bool ReadsOnlyAmounts() const override { return scalars_.empty(); }
  // A number has a bit for each resource of which there is too little, and then, if that makes a difference, one for
  // each of them of which the node has too little when it is empty.
  void NumberReasons(std::span<const Row> rows, const AddedAmounts* beside, std::span<uint32_t> numbers) override {
    const Columns& c = cache_.columns();
    if (beside != nullptr) {
      for (size_t i = 0; i < rows.size(); ++i) {
        numbers[i] = WithRest(c, rows[i], NumberOfAmounts(c, rows[i], beside[i]));
      }
      return;
    }
    const std::vector<Sufficient> amounts = Amounts();
    NumberLacking(amounts, rows, numbers, [&](Row row) { return NumberOfAmounts(c, row, AddedAmounts()); });
    if (!scalars_.empty() || too_small_is_final_) {
      for (size_t i = 0; i < rows.size(); ++i) numbers[i] = WithRest(c, rows[i], numbers[i]);
    }
  }
  void Filter(RowSet* candidates, RowSet*) override {
    const Columns& c = cache_.columns();
    candidates->ForEach([&](Row row) {
      if (!Fits(c, row)) candidates->Erase(row);
    });
  }
  void KeepFitting(std::vector<Row>* rows) override {
    const Columns& c = cache_.columns();
    KeepSufficient(Amounts(), rows, [&](Row row) { return Fits(c, row); });
    for (const auto& [name, amount] : scalars_) {
      if (const ScalarColumns* const columns = cache_.ScalarColumnsOf(name); columns != nullptr) {
        KeepRows(rows, [alloc = columns->alloc.data(), used = columns->used.data(), amount](size_t, Row row) {
          return !Lacks(amount, alloc[row], used[row]);
        });
      } else {
        std::erase_if(*rows, [&](Row row) { return LacksScalar(row, name, amount); });
      }
    }
  }

 private:
  static constexpr size_t kAmounts = 4;          // pods, cpu, memory and ephemeral storage, in this order
  static constexpr size_t kMostReasonBits = 21;  // with more, each row is explained by itself

  // Returns the amounts that have columns, for those of which the pod requests some. Valid until the cache changes.
  std::vector<Sufficient> Amounts() const {
    const Columns& c = cache_.columns();
    std::vector<Sufficient> out = {{c.pod_count.data(), c.alloc_pods.data(), 1}};
    auto add = [&](int64_t wanted, const std::vector<int64_t>& used, const std::vector<int64_t>& allocatable) {
      if (wanted > 0) out.push_back({used.data(), allocatable.data(), wanted});
    };
    add(want_.milli_cpu, c.used_cpu, c.alloc_cpu);
    add(want_.memory, c.used_memory, c.alloc_memory);
    add(want_.ephemeral_storage, c.used_ephemeral, c.alloc_ephemeral);
    return out;
  }
  // Returns a number whose bit i is set if there is too little of the i-th of Amounts(), with what `b` adds to what is
  // used.
  uint32_t NumberOfAmounts(const Columns& c, Row row, const AddedAmounts& b) const {
    uint32_t number = c.pod_count[row] + b.pods + 1 > c.alloc_pods[row] ? 1 : 0;
    int bit = 1;
    auto add = [&](int64_t wanted, int64_t allocatable, int64_t used, int64_t beside) {
      if (wanted > 0) number |= uint32_t{Lacks(wanted, allocatable, SaturatingAdd(used, beside))} << bit++;
    };
    add(want_.milli_cpu, c.alloc_cpu[row], c.used_cpu[row], b.milli_cpu);
    add(want_.memory, c.alloc_memory[row], c.used_memory[row], b.memory);
    add(want_.ephemeral_storage, c.alloc_ephemeral[row], c.used_ephemeral[row], b.ephemeral_storage);
    return number;
  }
  // Returns the bits of the resources that the pod wants more of than the node has at all, in the order of
  // NumberOfAmounts and then of scalars_.
  uint32_t TooSmall(const Columns& c, Row row) const {
    uint32_t number = 0;
    int bit = 1;
    auto add = [&](int64_t wanted, int64_t allocatable) {
      if (wanted > 0) number |= uint32_t{wanted > allocatable} << bit++;
    };
    add(want_.milli_cpu, c.alloc_cpu[row]);
    add(want_.memory, c.alloc_memory[row]);
    add(want_.ephemeral_storage, c.alloc_ephemeral[row]);
    bit = kAmounts;
    for (const auto& [name, amount] : scalars_) {
      number |= uint32_t{amount > ScalarOf(cache_.row(row).allocatable, name)} << bit++;
    }
    return number;
  }
  // Returns the number of a row, of which `number` has the bits of NumberOfAmounts.
  uint32_t WithRest(const Columns& c, Row row, uint32_t number) const {
    int bit = kAmounts;
    for (const auto& [name, amount] : scalars_) number |= uint32_t{LacksScalar(row, name, amount)} << bit++;
    if (too_small_is_final_ && number != 0) number |= (number & TooSmall(c, row)) << bit;
    return number;
  }
  bool Fits(const Columns& c, Row row) const {
    if (c.pod_count[row] + 1 > c.alloc_pods[row] || Lacks(want_.milli_cpu, c.alloc_cpu[row], c.used_cpu[row]) ||
        Lacks(want_.memory, c.alloc_memory[row], c.used_memory[row]) ||
        Lacks(want_.ephemeral_storage, c.alloc_ephemeral[row], c.used_ephemeral[row])) {
      return false;
    }
    return std::none_of(scalars_.begin(), scalars_.end(),
                        [&](const auto& s) { return LacksScalar(row, s.first, s.second); });
  }
  bool LacksScalar(Row row, Symbol name, int64_t amount) const {
    const NodeRow& r = cache_.row(row);
    return Lacks(amount, ScalarOf(r.allocatable, name), ScalarOf(r.requested, name));
  }

  const Cache& cache_;
  const Resource& want_;
  const bool too_small_is_final_;
  std::vector<std::pair<Symbol, int64_t>> scalars_;  // those that are not ignored
};

// A resource of the profile's list, with what one pod requests of it.
struct Listed {
  enum class Kind : uint8_t { kCpuTime, kMemoryBytes, kEphemeralBytes, kScalar };
  Kind kind;
  Symbol name;
  int64_t weight;
  int64_t wanted;  // what the pod requests
};

// Returns the listed resources that can count for the pod. A scalar resource counts only if the pod requests it or with
// `all`. `non_zero` says whether the requests of cpu and memory include the defaults for containers that request
// nothing.
std::vector<Listed> ListedFor(const TemplateInfo& info, const std::vector<ResourceWeight>& resources, bool non_zero,
                              bool all = false) {
  std::vector<Listed> out;
  const auto scalar = [&](Symbol name) -> int64_t {
    if (!non_zero || !info.incoming_scalars) return ScalarOf(info.request, name);
    for (const auto& [n, amount] : *info.incoming_scalars) {
      if (n == name) return amount;
    }
    return 0;
  };
  for (const ResourceWeight& r : resources) {
    const Symbol name(r.name);
    if (name == kCpu) {
      out.push_back(
          {Listed::Kind::kCpuTime, name, r.weight, non_zero ? info.incoming_milli_cpu : info.request.milli_cpu});
    } else if (name == kMemory) {
      out.push_back(
          {Listed::Kind::kMemoryBytes, name, r.weight, non_zero ? info.incoming_memory : info.request.memory});
    } else if (name == kEphemeral) {
      out.push_back({Listed::Kind::kEphemeralBytes, name, r.weight, info.request.ephemeral_storage});
    } else if (const int64_t wanted = scalar(name); wanted != 0 || all) {
      out.push_back({Listed::Kind::kScalar, name, r.weight, wanted});
    }
  }
  return out;
}

// One resource of one node, as it would be with the pod.
struct Share {
  int64_t requested, allocatable;  // if allocatable is 0, the resource does not count on this node
};

// A listed resource that has columns in the cache. All of cpu, memory and ephemeral storage do, so this is the usual
// case.
struct ListedColumn {
  const int64_t* used;
  const int64_t* allocatable;
  int64_t wanted, weight;
  Share At(Row row) const { return {SaturatingAdd(used[row], wanted), allocatable[row]}; }
};
// Writes the columns and returns true, or returns false if a listed resource has none. Valid until the cache changes.
bool ColumnsOf(const std::vector<Listed>& listed, const Columns& c, bool non_zero, std::vector<ListedColumn>* out) {
  out->clear();
  for (const Listed& r : listed) {
    switch (r.kind) {
      case Listed::Kind::kCpuTime:
        out->push_back({(non_zero ? c.nonzero_cpu : c.used_cpu).data(), c.alloc_cpu.data(), r.wanted, r.weight});
        break;
      case Listed::Kind::kMemoryBytes:
        out->push_back(
            {(non_zero ? c.nonzero_memory : c.used_memory).data(), c.alloc_memory.data(), r.wanted, r.weight});
        break;
      case Listed::Kind::kEphemeralBytes:
        out->push_back({c.used_ephemeral.data(), c.alloc_ephemeral.data(), r.wanted, r.weight});
        break;
      case Listed::Kind::kScalar:
        return false;
    }
  }
  return true;
}
// Does the same as ListedColumn::At for any resource.
Share ShareOf(const Listed& r, const Cache& cache, Row row, bool non_zero) {
  const Columns& c = cache.columns();
  switch (r.kind) {
    case Listed::Kind::kCpuTime:
      return {SaturatingAdd((non_zero ? c.nonzero_cpu : c.used_cpu)[row], r.wanted), c.alloc_cpu[row]};
    case Listed::Kind::kMemoryBytes:
      return {SaturatingAdd((non_zero ? c.nonzero_memory : c.used_memory)[row], r.wanted), c.alloc_memory[row]};
    case Listed::Kind::kEphemeralBytes:
      return {SaturatingAdd(c.used_ephemeral[row], r.wanted), c.alloc_ephemeral[row]};
    case Listed::Kind::kScalar:
      break;
  }
  const NodeRow& node = cache.row(row);
  return {SaturatingAdd(ScalarOf(node.requested, r.name), r.wanted), ScalarOf(node.allocatable, r.name)};
}

// Returns the score on the line through the points of the shape. The product is computed before the division, which
// truncates toward zero on falling segments, too.
int64_t OnShape(const std::vector<std::pair<int64_t, int64_t>>& shape, int64_t utilization) {
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto& [at, score] = shape[i];
    if (utilization > at) continue;
    if (i == 0) return score;
    const auto& [from, before] = shape[i - 1];
    return before + (score - before) * (utilization - from) / (at - from);
  }
  return shape.back().second;
}

// The score of NodeResourcesFit: the weighted average of the scores of the listed resources. Requests of cpu and memory
// include the defaults. LeastAllocated and MostAllocated divide integers; RequestedToCapacityRatio rounds to the
// nearest. With FitOptions::every_resource_counts, a resource that the node lacks scores 0, or as a full one with
// RequestedToCapacityRatio, instead of being left out of the average.
class FitScoring final : public Scoring {
 public:
  FitScoring(const PodContext& ctx, std::shared_ptr<const FitOptions> options, int64_t max_score)
      : cache_(ctx.cache),
        options_(std::move(options)),
        max_score_(max_score),
        listed_(ListedFor(ctx.info, options_->resources, /*non_zero=*/true, options_->every_resource_counts)) {}

  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    if (ColumnsOf(listed_, cache_.columns(), true, &columns_)) {
      if (options_->strategy == FitOptions::Strategy::kLeastAllocated) {
        MapBlocks<FitOptions::Strategy::kLeastAllocated>(rows, scores);
        return absl::OkStatus();
      }
      if (options_->strategy == FitOptions::Strategy::kMostAllocated) {
        MapBlocks<FitOptions::Strategy::kMostAllocated>(rows, scores);
        return absl::OkStatus();
      }
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      int64_t sum = 0, weights = 0;
      for (const Listed& r : listed_) {
        const Share s = ShareOf(r, cache_, rows[i], true);
        if (s.allocatable == 0 && !options_->every_resource_counts) continue;
        const int64_t one = ScoreOf(options_->strategy, s);
        // A resource that scores 0 is left out of the average, so it does not lower it (bug M-07, kept).
        if (options_->strategy == FitOptions::Strategy::kRequestedToCapacityRatio && one <= 0) continue;
        sum += one * r.weight;
        weights += r.weight;
      }
      if (weights == 0) {
        scores[i] = 0;
      } else if (options_->strategy == FitOptions::Strategy::kRequestedToCapacityRatio) {
        scores[i] = static_cast<int64_t>(std::round(static_cast<double>(sum) / static_cast<double>(weights)));
      } else {
        scores[i] = sum / weights;
      }
    }
    return absl::OkStatus();
  }

 private:
  template <FitOptions::Strategy strategy>
  void MapBlocks(std::span<const Row> rows, std::span<int64_t> scores) const {
    if (rows.size() <= kFewRows) return MapColumns<strategy>(rows, scores);
    ForBlocks(rows, [&](const RowBlock& block, size_t at) {
      if (!MapBlock<strategy>(block, &scores[at])) {
        MapColumns<strategy>(rows.subspan(at, block.rows()), scores.subspan(at, block.rows()));
      }
    });
  }
  // Does the same as MapColumns. Returns false, and writes nothing, if an amount or a weight is too large or negative.
  template <FitOptions::Strategy strategy>
  bool MapBlock(const RowBlock& block, int64_t* scores) const {
    constexpr int64_t kLargeWeight = 1 << 20;
    double shares[RowBlock::kMostValues], sums[RowBlock::kMostValues], weights[RowBlock::kMostValues];
    const size_t size = block.size();
    std::fill_n(sums, size, 0);
    std::fill_n(weights, size, 0);
    for (const ListedColumn& c : columns_) {
      if (c.weight < 0 || c.weight > kLargeWeight) return false;
      RowBlock::Amounts buffers[2];
      const ExactAmounts amounts(block, c.used, c.wanted, c.allocatable, buffers);
      if (!amounts.exact()) return false;
      util::RunLoops([amounts, weight = static_cast<double>(c.weight), max = static_cast<double>(max_score_), size,
                      of_nothing = static_cast<double>(options_->every_resource_counts ? c.weight : 0),
                      shares = +shares, sums = +sums, weights = +weights]() BERTH_LOOPS {
        for (size_t i = 0; i < size; ++i) {
          const double requested = amounts.requested(i), capacity = amounts.capacity(i);
          const double most = requested > capacity ? capacity : requested;
          const double part = strategy == FitOptions::Strategy::kLeastAllocated ? capacity - most : most;
          const double share = part * max / capacity;
          shares[i] = capacity == 0 ? 0 : share;
          weights[i] += capacity == 0 ? of_nothing : weight;
        }
        for (size_t i = 0; i < size; ++i) sums[i] += static_cast<double>(static_cast<int32_t>(shares[i])) * weight;
      });
    }
    int32_t small[RowBlock::kMostValues];
    util::RunLoops([size, sums = +sums, weights = +weights, out = +small]() BERTH_LOOPS {
      for (size_t i = 0; i < size; ++i) {
        const double mean = sums[i] / weights[i];
        out[i] = static_cast<int32_t>(weights[i] == 0 ? 0 : mean);
      }
    });
    block.Pick(small, scores);
    return true;
  }
  // Does the same as the loop in Map. REQUIRES: columns_ has all listed resources.
  template <FitOptions::Strategy strategy>
  void MapColumns(std::span<const Row> rows, std::span<int64_t> scores) const {
    for (size_t i = 0; i < rows.size(); ++i) {
      int64_t sum = 0, weights = 0;
      for (const ListedColumn& c : columns_) {
        const Share s = c.At(rows[i]);
        if (s.allocatable == 0) {
          weights += options_->every_resource_counts ? c.weight : 0;
          continue;
        }
        sum += ScoreOf(strategy, s) * c.weight;
        weights += c.weight;
      }
      // Most profiles have two resources of weight 1, and the division would cost more than all the rest.
      scores[i] = weights == 2 ? sum / 2 : weights == 0 ? 0 : sum / weights;
    }
  }
  // LeastAllocated scores an exceeded resource 0. MostAllocated gives it the highest score; 1.10 gave it 0.
  int64_t ScoreOf(FitOptions::Strategy strategy, const Share& s) const {
    if (s.allocatable == 0) {
      return strategy == FitOptions::Strategy::kRequestedToCapacityRatio ? OnShape(options_->shape, kFull) : 0;
    }
    switch (strategy) {
      case FitOptions::Strategy::kLeastAllocated:
        return s.requested > s.allocatable ? 0 : Scaled(WrappingSub(s.allocatable, s.requested), s.allocatable);
      case FitOptions::Strategy::kMostAllocated:
        return Scaled(std::min(s.requested, s.allocatable), s.allocatable);
      case FitOptions::Strategy::kRequestedToCapacityRatio:
        break;
    }
    if (s.requested > s.allocatable) return OnShape(options_->shape, kFull);
    // An inexact division makes the second form one percent higher.
    return OnShape(options_->shape,
                   options_->rounds_utilization_up
                       ? kFull - WrappingDiv(WrappingMul(s.allocatable - s.requested, kFull), s.allocatable)
                       : WrappingDiv(WrappingMul(s.requested, kFull), s.allocatable));
  }
  // Returns part * max_score / whole, truncated toward zero. Dividing doubles is faster and exact below 2^46: a
  // quotient that is not an integer is further away from the nearest one than the rounding error reaches.
  int64_t Scaled(int64_t part, int64_t whole) const {
    constexpr uint64_t kExact = uint64_t{1} << 46;
    if (static_cast<uint64_t>(whole) < kExact && static_cast<uint64_t>(part) <= static_cast<uint64_t>(whole))
        [[likely]] {
      return static_cast<int64_t>(static_cast<double>(part * max_score_) / static_cast<double>(whole));
    }
    return WrappingDiv(WrappingMul(part, max_score_), whole);
  }

  static constexpr int64_t kFull = 100;  // percent
  const Cache& cache_;
  std::shared_ptr<const FitOptions> options_;
  int64_t max_score_;
  std::vector<Listed> listed_;
  std::vector<ListedColumn> columns_;  // valid only while rows are scored
};

// The score of NodeResourcesBalancedAllocation: (1 - standard deviation of the used fractions) times the highest score.
// Requests do not include defaults, fractions are capped at 1, and a resource without capacity is left out. Unlike in
// 1.10, a full node does not score 0. For two fractions upstream uses |f0 - f1| / 2; the order of the operations is
// upstream's, because it decides the last bit.
class BalancedScoring final : public Scoring {
 public:
  BalancedScoring(const PodContext& ctx, const std::vector<ResourceWeight>& resources, int64_t max_score)
      : cache_(ctx.cache),
        max_score_(static_cast<double>(max_score)),
        listed_(ListedFor(ctx.info, resources, /*non_zero=*/false)) {}

  // Returns whether the pod requests nothing of the listed resources.
  bool RequestsNothing() const {
    return std::all_of(listed_.begin(), listed_.end(), [](const Listed& r) { return r.wanted == 0; });
  }
  // Lets Map score the nodes as they are without the pod. What the pod does not request still does not count.
  void LeaveOutPod() {
    for (Listed& r : listed_) r.wanted = 0;
  }

  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    if (listed_.size() == 2 && ColumnsOf(listed_, cache_.columns(), false, &columns_)) {
      if (rows.size() <= kFewRows) {
        MapTwo(columns_[0], columns_[1], rows, scores);
        return absl::OkStatus();
      }
      ForBlocks(rows, [&](const RowBlock& block, size_t at) {
        if (MapBlock(columns_[0], columns_[1], block, &scores[at])) return;
        MapTwo(columns_[0], columns_[1], rows.subspan(at, block.rows()), scores.subspan(at, block.rows()));
      });
      return absl::OkStatus();
    }
    std::vector<double> fractions(listed_.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      size_t n = 0;
      double total = 0;
      for (const Listed& r : listed_) {
        const Share s = ShareOf(r, cache_, rows[i], false);
        if (s.allocatable == 0) continue;
        fractions[n] = FractionOf(s);
        total += fractions[n++];
      }
      double deviation = 0;
      if (n == 2) {
        deviation = std::fabs((fractions[0] - fractions[1]) / 2);
      } else if (n > 2) {
        const double mean = total / static_cast<double>(n);
        double sum = 0;
        for (size_t k = 0; k < n; ++k) sum = sum + (fractions[k] - mean) * (fractions[k] - mean);
        deviation = std::sqrt(sum / static_cast<double>(n));
      }
      scores[i] = static_cast<int64_t>((1 - deviation) * max_score_);
    }
    return absl::OkStatus();
  }

 private:
  // Does the same as MapTwo. Returns false, and writes nothing, if an amount is too large or negative.
  bool MapBlock(const ListedColumn& a, const ListedColumn& b, const RowBlock& block, int64_t* scores) const {
    RowBlock::Amounts buffers[4];
    const ExactAmounts x(block, a.used, a.wanted, a.allocatable, &buffers[0]);
    const ExactAmounts y(block, b.used, b.wanted, b.allocatable, &buffers[2]);
    int32_t small[RowBlock::kMostValues];
    if (!ExactAmounts::Exact(x, y)) return false;
    util::RunLoops([x, y, max = max_score_, size = block.size(), out = +small]() BERTH_LOOPS {
      for (size_t i = 0; i < size; ++i) {
        const double x_share = x.requested(i) / x.capacity(i), y_share = y.requested(i) / y.capacity(i);
        const double difference = std::fabs(((x_share > 1 ? 1 : x_share) - (y_share > 1 ? 1 : y_share)) / 2);
        const double deviation = (x.capacity(i) == 0) | (y.capacity(i) == 0) ? 0 : difference;
        out[i] = static_cast<int32_t>((1 - deviation) * max);
      }
    });
    block.Pick(small, scores);
    return true;
  }
  // Does the same as the general loop, for exactly two resources that have columns.
  void MapTwo(const ListedColumn& a, const ListedColumn& b, std::span<const Row> rows,
              std::span<int64_t> scores) const {
    for (size_t i = 0; i < rows.size(); ++i) {
      const Share x = a.At(rows[i]), y = b.At(rows[i]);
      double deviation = 0;
      if (x.allocatable != 0 && y.allocatable != 0) {
        deviation = std::fabs((FractionOf(x) - FractionOf(y)) / 2);
      }
      scores[i] = static_cast<int64_t>((1 - deviation) * max_score_);
    }
  }
  static double FractionOf(const Share& s) {
    return std::min(static_cast<double>(s.requested) / static_cast<double>(s.allocatable), 1.0);
  }

  const Cache& cache_;
  double max_score_;
  std::vector<Listed> listed_;
  std::vector<ListedColumn> columns_;  // valid only while rows are scored
};

// The score of NodeResourcesBalancedAllocation since 1.34, from the scores of 1.29 with and without the pod: 75 if the
// pod does not change the balance of the node, more if it improves it, and 50 at least. The division truncates toward
// zero.
class ImprovedBalanceScoring final : public Scoring {
 public:
  ImprovedBalanceScoring(const PodContext& ctx, const std::vector<ResourceWeight>& resources, int64_t max_score)
      : half_(max_score / 2), with_(ctx, resources, max_score), without_(ctx, resources, max_score) {
    skips_ = with_.RequestsNothing();
    without_.LeaveOutPod();
  }
  bool Skips(std::span<const Row>) override { return skips_; }
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    if (skips_) {
      std::fill(scores.begin(), scores.end(), 0);
      return absl::OkStatus();
    }
    thread_local std::vector<int64_t> before;
    before.resize(rows.size());
    without_.Map(rows, before).IgnoreError();
    absl::Status status = with_.Map(rows, scores);
    const int64_t* const of = before.data();
    for (size_t i = 0; i < rows.size(); ++i) scores[i] = half_ + (half_ + scores[i] - of[i]) / 2;
    return status;
  }

 private:
  int64_t half_;
  BalancedScoring with_, without_;
  bool skips_ = false;
};

}  // namespace

FitPredicate Fit(const PluginFactoryArgs&, FitOptions options) {
  auto shared = std::make_shared<const FitOptions>(std::move(options));
  return [shared](const PodContext& ctx) { return std::make_unique<FitResources>(ctx, *shared); };
}

PriorityFunction FitScore(const PluginFactoryArgs& args, FitOptions options) {
  auto shared = std::make_shared<const FitOptions>(std::move(options));
  return
      [shared, max = args.max_score](const PodContext& ctx) { return std::make_unique<FitScoring>(ctx, shared, max); };
}

PriorityFunction BalancedAllocation(const PluginFactoryArgs& args, std::vector<ResourceWeight> resources) {
  auto shared = std::make_shared<const std::vector<ResourceWeight>>(std::move(resources));
  return [shared, max = args.max_score](const PodContext& ctx) {
    return std::make_unique<BalancedScoring>(ctx, *shared, max);
  };
}

PriorityFunction ImprovedBalance(const PluginFactoryArgs& args, std::vector<ResourceWeight> resources) {
  auto shared = std::make_shared<const std::vector<ResourceWeight>>(std::move(resources));
  return [shared, max = args.max_score](const PodContext& ctx) {
    return std::make_unique<ImprovedBalanceScoring>(ctx, *shared, max);
  };
}

}  // namespace berth::scheduler::noderesources
