#include <absl/container/flat_hash_map.h>

#include "pkg/scheduler/algorithm/serviceaffinity/serviceaffinity.h"

namespace berth::scheduler::serviceaffinity {
namespace {

class ServiceAntiAffinityScoring final : public Scoring {
 public:
  ServiceAntiAffinityScoring(const PodContext& ctx, Symbol label, int64_t max_score)
      : ctx_(ctx), label_(label), max_score_(max_score) {
    auto services = ctx.cache.listers().ServicesOf(*ctx.pod.tmpl);
    if (services.empty()) return;
    selector_ = api::Selector::FromMapValidated(*services.front()->selector);
    has_service_ = true;
  }

  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    for (size_t i = 0; i < rows.size(); ++i) {
      scores[i] = 0;
      if (!has_service_) continue;
      for (const PlacedPod& p : ctx_.cache.row(rows[i]).pods) {
        scores[i] += p.pod->tmpl->ns == ctx_.pod.tmpl->ns && selector_.Matches(p.pod->tmpl->labels);
      }
    }
    return absl::OkStatus();
  }

  absl::Status Reduce(std::span<const Row> rows, std::span<int64_t> scores) override {
    int64_t total = 0;
    absl::flat_hash_map<Symbol, int64_t> by_value;
    auto value_of = [&](Row row) { return ctx_.cache.row(row).node->labels.Get(label_); };
    for (size_t i = 0; i < rows.size(); ++i) {
      total += scores[i];
      if (auto value = value_of(rows[i])) by_value[*value] += scores[i];
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      auto value = value_of(rows[i]);
      if (!value) {
        scores[i] = 0;
      } else if (total == 0) {
        scores[i] = max_score_;
      } else {
        double share = static_cast<double>(total - by_value[*value]) / static_cast<double>(total);
        scores[i] = static_cast<int64_t>(static_cast<double>(max_score_) * share);
      }
    }
    return absl::OkStatus();
  }

 private:
  PodContext ctx_;
  Symbol label_;
  int64_t max_score_;
  api::Selector selector_;  // of the pod's first service by name
  bool has_service_ = false;
};

}  // namespace

PriorityFunction ServiceAntiAffinity(const PluginFactoryArgs& args, Symbol label) {
  return [label, max = args.max_score](const PodContext& ctx) {
    return std::make_unique<ServiceAntiAffinityScoring>(ctx, label, max);
  };
}

}  // namespace berth::scheduler::serviceaffinity
