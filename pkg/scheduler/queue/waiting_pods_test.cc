// Pods that wait are asked about in groups: a queue that asks once for all pods of a template and of the same rules
// does what one does that asks for each pod.
#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "pkg/releases/releases.h"
#include "pkg/scheduler/queue/scheduling_queue.h"
#include "pkg/scheduler/reference/random_cluster.h"

namespace berth::scheduler {
namespace {

using util::Symbol;
using EventKindOfWaiting = ClusterEvent::Kind;

constexpr int kTemplates = 6;

api::PodPtr WaitingPodOf(int number, int kind) {
  api::PodTemplate t;
  t.ns = Symbol("default");
  t.priority = kind % 3;
  t.labels = api::Labels({{Symbol("app"), Symbol(absl::StrCat("kind-", kind))}});
  if (kind == 1) t.volumes.emplace_back();
  if (kind == 2) {
    api::PodAffinityTerm near;
    near.namespaces = {t.ns};
    near.selector.selector = api::Selector::FromMap(api::Labels({{Symbol("app"), Symbol("kind-0")}}));
    t.affinity.pod.emplace().required.push_back(near);
  }
  auto p = std::make_shared<api::Pod>();
  p->meta.name = absl::StrCat("p", number);
  p->meta.ns = t.ns;
  p->meta.uid = absl::StrCat("uid-", p->meta.name);
  p->tmpl = api::PodTemplate::Intern(std::move(t));
  return p;
}

std::string CountsOf(const SchedulingQueue& q) {
  const QueueCounts counts = q.counts();
  std::string out = absl::StrCat(q.depth().active, "/", q.depth().backoff, "/", q.depth().unschedulable);
  for (const auto& i : counts.incoming) {
    absl::StrAppend(&out, " ", std::string(i.event), ">", std::string(i.queue), ":", i.pods);
  }
  std::vector<std::string> others;
  for (const auto& r : counts.rejected) others.push_back(absl::StrCat(r.plugin.string(), "=", r.pods));
  for (const auto& h : counts.hints) {
    others.push_back(absl::StrCat(h.plugin.string(), "?", std::string(h.event), h.may_help, "=", h.took.count()));
  }
  std::sort(others.begin(), others.end());
  for (const std::string& o : others) absl::StrAppend(&out, " ", o);
  return out;
}

// Two queues of a release that get the same, of which one asks by template.
class TwoQueues {
 public:
  TwoQueues(const char* release, uint32_t seed) : random_(seed) {
    for (const bool by_template : {true, false}) {
      EventQueueOptions o;
      o.wakes = releases::Of(**release::Named(release)).decides.wakes;
      o.asks_by_template = by_template;
      int64_t* const asked = by_template ? &asked_by_template_ : &asked_by_pod_;
      o.may_fit = [asked](const api::Pod& pod, const api::Node& node) {
        ++*asked;
        return (static_cast<size_t>(pod.Priority()) + node.meta.name.size()) % 2 == 0;
      };
      o.may_help = [asked](const api::Pod& pod, Symbol rule, const ClusterEvent& e) {
        ++*asked;
        if (e.pod() != nullptr && e.pod()->meta.uid == pod.meta.uid) return true;
        if (!pod.tmpl->volumes.empty()) return pod.meta.name.back() % 2 == 0;
        return (static_cast<size_t>(pod.Priority()) + rule.str().size() + static_cast<size_t>(e.kind)) % 3 != 0;
      };
      queues_.push_back(NewEventQueue(o));
    }
  }
  void Step() {
    now_ += absl::Milliseconds(Below(4) == 0 ? Below(40'000) : Below(500));
    const int what = Below(10);
    if (what < 3) return Add();
    if (what < 7) return Try();
    if (what == 7) return Happens();
    if (what == 8) return Both([&](SchedulingQueue& q) { q.Flush(now_); });
    Change();
  }
  void Compare() {
    REQUIRE(CountsOf(*queues_[0]) == CountsOf(*queues_[1]));
    REQUIRE(queues_[0]->NextFlush() == queues_[1]->NextFlush());
  }
  int64_t asked_by_template() const { return asked_by_template_; }
  int64_t asked_by_pod() const { return asked_by_pod_; }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  template <typename F>
  void Both(F f) {
    for (auto& q : queues_) f(*q);
  }
  void Add() {
    const api::PodPtr pod = WaitingPodOf(next_++, Below(kTemplates));
    Both([&](SchedulingQueue& q) { q.Add(pod); });
    pods_.push_back(pod);
  }
  void Try() {
    const api::PodPtr popped = queues_[0]->Pop(), other = queues_[1]->Pop();
    REQUIRE((popped == nullptr) == (other == nullptr));
    if (popped == nullptr) return;
    REQUIRE(popped->meta.name == other->meta.name);
    if (Below(3) == 0) Happens();
    if (Below(12) == 0) {
      Both([&](SchedulingQueue& q) { q.Done(*popped); });
      std::erase_if(pods_, [&](const api::PodPtr& p) { return p->meta.uid == popped->meta.uid; });
      return;
    }
    static const std::vector<std::vector<Symbol>> kRules = {{Symbol("NodeResourcesFit")},
                                                            {Symbol("NodeResourcesFit"), Symbol("NodeAffinity")},
                                                            {Symbol("InterPodAffinity")},
                                                            {Symbol("Mine")},
                                                            {}};
    const auto& rules = kRules[static_cast<size_t>(Below(static_cast<int>(kRules.size())))];
    Both([&](SchedulingQueue& q) { q.AddRejected(popped, Requeue::kUnschedulable, rules, q.cycle(), now_); });
  }
  void Happens() {
    static constexpr EventKindOfWaiting kKinds[] = {EventKindOfWaiting::kAssignedPodDelete,
                                                    EventKindOfWaiting::kAssignedPodAdd, EventKindOfWaiting::kNodeAdd,
                                                    EventKindOfWaiting::kNodeLabels, EventKindOfWaiting::kServiceAdd};
    ClusterEvent event{kKinds[Below(5)]};
    if (event.kind == EventKindOfWaiting::kNodeAdd) {
      auto node = std::make_shared<api::Node>();
      node->meta.name = std::string(static_cast<size_t>(1 + Below(4)), 'n');
      event.objects = EventObject<api::Node>{nullptr, node};
    } else if (event.kind == EventKindOfWaiting::kAssignedPodAdd) {
      event.objects = EventObject<api::Pod>{nullptr, WaitingPodOf(Below(next_ + 1), Below(kTemplates))};
    } else if (event.kind == EventKindOfWaiting::kAssignedPodDelete && Below(2) == 0) {
      event.objects = EventObject<api::Pod>{WaitingPodOf(Below(next_ + 1), Below(kTemplates)), nullptr};
    }
    Both([&](SchedulingQueue& q) { q.ClusterChanged(event, now_); });
  }
  // Changes or deletes a pod.
  void Change() {
    if (pods_.empty()) return;
    api::PodPtr& pod = pods_[static_cast<size_t>(Below(static_cast<int>(pods_.size())))];
    if (!queues_[0]->Has(*pod)) return;
    if (Below(3) == 0) {
      Both([&](SchedulingQueue& q) { q.Delete(*pod); });
      std::swap(pod, pods_.back());
      pods_.pop_back();
      return;
    }
    auto changed = std::make_shared<api::Pod>(*pod);
    if (Below(2) == 0) changed->tmpl = WaitingPodOf(0, Below(kTemplates))->tmpl;
    const bool differs = changed->tmpl != pod->tmpl;
    pod = changed;
    Both([&](SchedulingQueue& q) { q.Update(pod, differs, now_); });
  }

  std::mt19937 random_;
  std::vector<std::unique_ptr<SchedulingQueue>> queues_;
  std::vector<api::PodPtr> pods_;
  absl::Duration now_ = absl::Seconds(1000);
  int next_ = 0;
  int64_t asked_by_template_ = 0, asked_by_pod_ = 0;
};

}  // namespace

TEST_CASE("event queue: asking once for all pods of a template is as asking for each") {
  for (const char* release : {"1.19", "1.29", "1.36"}) {
    for (const uint64_t seed : reference::Seeds(20)) {
      INFO("release " << release << ", seed " << seed);
      TwoQueues both(release, static_cast<uint32_t>(seed));
      for (int i = 0; i < 600; ++i) {
        both.Step();
        both.Compare();
      }
      if (std::string(release) == "1.36") CHECK(both.asked_by_template() < both.asked_by_pod());
    }
  }
}

}  // namespace berth::scheduler
