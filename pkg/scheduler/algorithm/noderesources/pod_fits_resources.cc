#include <array>
#include <functional>
#include <set>

#include "pkg/api/resource_names.h"
#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/keep_rows.h"
#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/scheduler/algorithm/noderesources/row_block.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/cache/scalar_lookup.h"

namespace berth::scheduler::noderesources {
namespace {

const Symbol kPods("pods"), kCpu("cpu"), kMemory("memory"), kGpu("alpha.kubernetes.io/nvidia-gpu"),
    kEphemeral("ephemeral-storage");

constexpr size_t kMostNumberedScalars = 16;  // keeps ReasonBits() at 21 or below

// Sums saturate, so that absurd requests fit nowhere. Upstream's sums wrap.
bool Lacks(int64_t allocatable, int64_t wanted, int64_t used) {
  return allocatable < SaturatingAdd(wanted, used);
}

// Extended resources that are not compared, by name and by the part of the name before the first slash.
struct Ignored {
  std::set<Symbol> names;
  std::set<std::string, std::less<>> groups;

  bool Has(Symbol name) const {
    const std::string_view text = name.str();
    return api::IsExtendedResourceName(text) &&
           (names.contains(name) || groups.contains(text.substr(0, text.find('/'))));
  }
};

// PodFitsResources: a node fits if it may have one more pod and, for every resource, the requests of its pods and of
// the pod do not exceed what is allocatable. Real requests are compared, without the defaults that scores use. Once a
// pod requests anything, all four native resources are compared, even those of which it requests nothing: a node that
// is overcommitted in one of them then rejects it. Source: PodFitsResources in
// pkg/scheduler/algorithm/predicates/predicates.go (1.10) and pkg/scheduler/framework/plugins/noderesources/fit.go
// (1.19).
class ResourcesCheck final : public ColumnCheck {
 public:
  ResourcesCheck(const PodContext& ctx, const Ignored& ignored, const FailureReason& too_many_pods)
      : cache_(ctx.cache), want_(ctx.info.request), too_many_pods_(too_many_pods) {
    asks_nothing_ = want_.milli_cpu == 0 && want_.memory == 0 && want_.nvidia_gpu == 0 &&
                    want_.ephemeral_storage == 0 && want_.scalars.empty();
    for (const auto& s : want_.scalars) {
      if (!ignored.Has(s.first)) scalars_.push_back(s);
    }
  }

  Verdict Check(Row row) override { return Fits(cache_.columns(), row) ? Verdict::kFits : Verdict::kFails; }

  void Explain(Row row, std::vector<FailureReason>* out) override {
    const Columns& c = cache_.columns();
    if (c.pod_count[row] + 1 > c.alloc_pods[row]) out->push_back(too_many_pods_);
    if (asks_nothing_) return;
    if (Lacks(c.alloc_cpu[row], want_.milli_cpu, c.used_cpu[row])) out->push_back(reasons::Insufficient(kCpu));
    if (Lacks(c.alloc_memory[row], want_.memory, c.used_memory[row])) out->push_back(reasons::Insufficient(kMemory));
    if (Lacks(c.alloc_gpu[row], want_.nvidia_gpu, c.used_gpu[row])) out->push_back(reasons::Insufficient(kGpu));
    if (Lacks(c.alloc_ephemeral[row], want_.ephemeral_storage, c.used_ephemeral[row])) {
      out->push_back(reasons::Insufficient(kEphemeral));
    }
    for (const auto& [name, amount] : scalars_) {
      if (LacksScalar(row, name, amount)) out->push_back(reasons::Insufficient(name));
    }
  }

  // The columns show what must be released, unless the pod requests scalar resources, which have no columns, or a sum
  // was cut.
  FreedNeed NeedsFreed(Row row) override {
    FreedNeed need;
    need.known = scalars_.empty() && !cache_.row(row).saturated;
    const Columns& c = cache_.columns();
    need.pods = c.pod_count[row] + 1 - c.alloc_pods[row];
    if (asks_nothing_) return need;
    bool cut = false;
    auto lacking = [&](int64_t wanted, int64_t used, int64_t allocatable) {
      return SaturatingSub(SaturatingAdd(wanted, used, &cut), allocatable, &cut);
    };
    need.milli_cpu = lacking(want_.milli_cpu, c.used_cpu[row], c.alloc_cpu[row]);
    need.memory = lacking(want_.memory, c.used_memory[row], c.alloc_memory[row]);
    need.nvidia_gpu = lacking(want_.nvidia_gpu, c.used_gpu[row], c.alloc_gpu[row]);
    need.ephemeral_storage = lacking(want_.ephemeral_storage, c.used_ephemeral[row], c.alloc_ephemeral[row]);
    need.known = need.known && !cut;
    return need;
  }

  int ReasonBits() const override {
    return scalars_.size() <= kMostNumberedScalars ? 5 + static_cast<int>(scalars_.size()) : 0;
  }
  bool ReadsOnlyAmounts() const override { return scalars_.empty(); }
  void NumberReasons(std::span<const Row> rows, const AddedAmounts* beside, std::span<uint32_t> numbers) override {
    const Columns& c = cache_.columns();
    if (beside != nullptr) {
      for (size_t i = 0; i < rows.size(); ++i) numbers[i] = NumberOf(c, rows[i], beside[i]) | NumberOfScalars(rows[i]);
      return;
    }
    NumberLacking(Amounts(), rows, numbers, [&](Row row) { return NumberOf(c, row, AddedAmounts()); });
    for (size_t s = 0; s < scalars_.size(); ++s) NumberScalar(rows, scalars_[s], 5 + s, numbers);
  }

  void Filter(RowSet* candidates, RowSet*) override {
    const Columns& c = cache_.columns();
    candidates->ForEach([&](Row row) {
      if (!Fits(c, row)) candidates->Erase(row);
    });
  }

  void KeepFitting(std::vector<Row>* rows) override {
    KeepSufficient(Amounts(), rows, [&](Row row) { return Fits(cache_.columns(), row); });
    for (const auto& [name, amount] : scalars_) {
      if (const ScalarColumns* const columns = cache_.ScalarColumnsOf(name); columns != nullptr) {
        KeepRows(rows, [alloc = columns->alloc.data(), used = columns->used.data(), amount](size_t, Row row) {
          return !Lacks(alloc[row], amount, used[row]);
        });
      } else {
        std::erase_if(*rows, [&](Row row) { return LacksScalar(row, name, amount); });
      }
    }
  }

 private:
  // Sets the bit in the numbers of the rows that lack the scalar resource.
  void NumberScalar(std::span<const Row> rows, const std::pair<Symbol, int64_t>& scalar, size_t bit,
                    std::span<uint32_t> numbers) const {
    const auto& [name, amount] = scalar;
    const ScalarColumns* const columns = cache_.ScalarColumnsOf(name);
    if (columns == nullptr) {
      for (size_t i = 0; i < rows.size(); ++i) numbers[i] |= uint32_t{LacksScalar(rows[i], name, amount)} << bit;
      return;
    }
    const int64_t *const alloc = columns->alloc.data(), *const used = columns->used.data();
    for (size_t i = 0; i < rows.size(); ++i) {
      numbers[i] |= uint32_t{Lacks(alloc[rows[i]], amount, used[rows[i]])} << bit;
    }
  }
  // Returns the resources in the order of the bits of NumberOf, without the last ones if no row can lack them. If the
  // pod requests nothing, only the number of pods. Valid until the cache changes.
  std::span<const Sufficient> Amounts() {
    const Columns& c = cache_.columns();
    amounts_[0] = {c.pod_count.data(), c.alloc_pods.data(), 1};
    amounts_[1] = {c.used_cpu.data(), c.alloc_cpu.data(), want_.milli_cpu};
    amounts_[2] = {c.used_memory.data(), c.alloc_memory.data(), want_.memory};
    amounts_[3] = {c.used_gpu.data(), c.alloc_gpu.data(), want_.nvidia_gpu};
    amounts_[4] = {c.used_ephemeral.data(), c.alloc_ephemeral.data(), want_.ephemeral_storage};
    if (asks_nothing_) return {amounts_.data(), 1};
    if (c.ephemeral_matters || want_.ephemeral_storage != 0) return amounts_;
    return {amounts_.data(), amounts_.size() - (c.gpu_matters || want_.nvidia_gpu != 0 ? 1u : 2u)};
  }
  bool Fits(const Columns& c, Row row) const {
    if (c.pod_count[row] + 1 > c.alloc_pods[row]) return false;
    if (asks_nothing_) return true;
    if (Lacks(c.alloc_cpu[row], want_.milli_cpu, c.used_cpu[row]) ||
        Lacks(c.alloc_memory[row], want_.memory, c.used_memory[row]) ||
        Lacks(c.alloc_gpu[row], want_.nvidia_gpu, c.used_gpu[row]) ||
        Lacks(c.alloc_ephemeral[row], want_.ephemeral_storage, c.used_ephemeral[row])) {
      return false;
    }
    for (const auto& [name, amount] : scalars_) {
      if (LacksScalar(row, name, amount)) return false;
    }
    return true;
  }
  // Returns a number with one bit for each native resource of which there is too little, with the amounts of `b` in
  // addition to those of the node's pods.
  uint32_t NumberOf(const Columns& c, Row row, const AddedAmounts& b) const {
    uint32_t number = c.pod_count[row] + b.pods + 1 > c.alloc_pods[row] ? 1 : 0;
    if (asks_nothing_) return number;
    auto bit = [](bool lacks, int place) { return uint32_t{lacks} << place; };
    number |= bit(Lacks(c.alloc_cpu[row], want_.milli_cpu, SaturatingAdd(c.used_cpu[row], b.milli_cpu)), 1) |
              bit(Lacks(c.alloc_memory[row], want_.memory, SaturatingAdd(c.used_memory[row], b.memory)), 2) |
              bit(Lacks(c.alloc_gpu[row], want_.nvidia_gpu, SaturatingAdd(c.used_gpu[row], b.nvidia_gpu)), 3) |
              bit(Lacks(c.alloc_ephemeral[row], want_.ephemeral_storage,
                        SaturatingAdd(c.used_ephemeral[row], b.ephemeral_storage)),
                  4);
    return number;
  }
  // Returns the bits of the scalar resources, which are behind those of NumberOf.
  uint32_t NumberOfScalars(Row row) const {
    uint32_t number = 0;
    for (size_t s = 0; s < scalars_.size(); ++s) {
      number |= uint32_t{LacksScalar(row, scalars_[s].first, scalars_[s].second)} << (5 + s);
    }
    return number;
  }
  bool LacksScalar(Row row, Symbol name, int64_t amount) const {
    const NodeRow& r = cache_.row(row);
    return Lacks(ScalarOf(r.allocatable, name), amount, ScalarOf(r.requested, name));
  }

  const Cache& cache_;
  const Resource& want_;
  const FailureReason& too_many_pods_;
  bool asks_nothing_;
  std::array<Sufficient, 5> amounts_;
  std::vector<std::pair<Symbol, int64_t>> scalars_;  // the requested scalars, without those that extenders manage
};

}  // namespace

FitPredicate PodFitsResources(const PluginFactoryArgs& args) {
  static const FailureReason kLacksPods = reasons::Insufficient(kPods);
  return [ignored = Ignored{args.ignored_extended_resources, {}}](const PodContext& ctx) {
    return std::make_unique<ResourcesCheck>(ctx, ignored, kLacksPods);
  };
}

FitPredicate FitEveryResource(const PluginFactoryArgs& args, const std::vector<std::string>& ignored_resources,
                              const std::vector<std::string>& ignored_resource_groups) {
  Ignored ignored{args.ignored_extended_resources, {ignored_resource_groups.begin(), ignored_resource_groups.end()}};
  ignored.names.insert(ignored_resources.begin(), ignored_resources.end());
  return [ignored = std::move(ignored)](const PodContext& ctx) {
    return std::make_unique<ResourcesCheck>(ctx, ignored, reasons::kTooManyPods);
  };
}

}  // namespace berth::scheduler::noderesources
