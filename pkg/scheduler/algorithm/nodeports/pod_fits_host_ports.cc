#include <algorithm>
#include <memory>
#include <utility>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/keep_rows.h"
#include "pkg/scheduler/algorithm/nodeports/nodeports.h"
#include "pkg/scheduler/algorithm/nodeports/port_rows.h"
#include "pkg/scheduler/algorithm/reasons.h"

namespace berth::scheduler::nodeports {
namespace {

// PodFitsHostPorts and NodePorts: a node fits if none of the host ports of the pod is in use there. Two containers of
// the pod that want the same port do not conflict with each other. Source: PodFitsHostPorts in
// pkg/scheduler/algorithm/predicates/predicates.go (1.10) and pkg/scheduler/framework/plugins/nodeports/node_ports.go
// (1.29).
class HostPortsCheck final : public ColumnCheck {
 public:
  HostPortsCheck(const Cache& cache, const std::vector<HostPort>& wanted, bool by_number,
                 std::shared_ptr<const PortRows> rows)
      : cache_(cache), wanted_(wanted), by_number_(by_number), rows_(std::move(rows)) {}

  bool FitsAlways() const override { return wanted_.empty(); }
  Verdict Check(Row row) override { return Conflicts(row) ? Verdict::kFails : Verdict::kFits; }
  int ReasonBits() const override { return 1; }
  void NumberReasons(std::span<const Row> rows, const AddedAmounts* beside, std::span<uint32_t> numbers) override {
    if (rows.size() < kFewRows) return ColumnCheck::NumberReasons(rows, beside, numbers);
    NumberByFilter(this, cache_, rows, numbers);
  }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kPodNotFitsHostPorts); }
  FreedNeed NeedsFreed(Row) override {
    FreedNeed need;
    need.known = wanted_.empty();
    return need;
  }
  void Filter(RowSet* candidates, RowSet*) override {
    if (!FitsAlways()) candidates->Subtract(ConflictingRows());
  }
  void KeepFitting(std::vector<Row>* rows) override {
    if (rows->size() < kFewRows) return ColumnCheck::KeepFitting(rows);
    const RowSet conflicting = ConflictingRows();
    if (conflicting.empty()) return;
    KeepRows(rows, [&](size_t, Row row) { return !conflicting.Has(row); });
  }

 private:
  // For fewer rows than this, a look at each is cheaper than one at all rows with the ports.
  static constexpr size_t kFewRows = 64;

  bool Conflicts(Row row) const {
    const HostPorts& used = cache_.row(row).ports;
    return !used.empty() && std::any_of(wanted_.begin(), wanted_.end(), [&](const HostPort& p) {
      return by_number_ ? used.HasNumber(p.port) : used.Conflicts(p);
    });
  }
  RowSet ConflictingRows() const {
    RowSet conflicting;
    conflicting.Resize(cache_.row_count());
    uint64_t* const words = conflicting.words().data();
    for (const HostPort& p : wanted_) {
      const PortRows::Number* number = rows_->Find(p.port);
      if (number == nullptr) continue;
      // Where all ports with the number are equal, one answer holds for nearly all rows.
      HostPorts one;
      one.Add(number->port);
      const bool alike = by_number_ || number->alike, conflicts = by_number_ || one.Conflicts(p);
      for (const auto& [row, use] : number->rows) {
        const bool here = alike && !use.unsure ? conflicts : Conflicts(row);
        words[row / 64] |= uint64_t{here} << (row % 64);
      }
    }
    return conflicting;
  }

  const Cache& cache_;
  const std::vector<HostPort>& wanted_;
  const bool by_number_;                        // 1.8
  const std::shared_ptr<const PortRows> rows_;  // null only if the pod wants no ports
};

// Returns the predicate. Where ports are used is kept from the first pod on that wants some.
FitPredicate HostPortsPredicate(Cache* cache, bool by_number) {
  return [cache, by_number, rows = std::make_shared<std::shared_ptr<PortRows>>()](const PodContext& ctx) {
    if (*rows == nullptr && !ctx.info.host_ports.empty()) {
      *rows = std::make_shared<PortRows>();
      cache->Tell(*rows);
      (*rows)->Begin(*cache);
    }
    return std::make_unique<HostPortsCheck>(ctx.cache, ctx.info.host_ports, by_number, *rows);
  };
}

}  // namespace

FitPredicate PodFitsHostPorts(const PluginFactoryArgs& args) {
  return HostPortsPredicate(args.cache, false);
}

FitPredicate PodFitsHostPortNumbers(const PluginFactoryArgs& args) {
  return HostPortsPredicate(args.cache, true);
}

}  // namespace berth::scheduler::nodeports
