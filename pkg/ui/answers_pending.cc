// Groups pending pods for the page. The numbers of pods are exact; of the pods themselves, only one page is sorted and
// listed.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "pkg/api/json_writer.h"
#include "pkg/ui/answers.h"
#include "pkg/ui/help.h"

namespace berth::ui {
namespace {

using api::JsonWriter;
using scheduler::FailureReasonText;
using scheduler::Scheduler;

// The most owners that are listed; those with the most pods come first.
constexpr size_t kMostOwners = 200;

// Upper bounds in seconds, with their labels.
constexpr std::array<std::pair<int64_t, std::string_view>, 5> kAges = {
    {{10, "10 s"}, {60, "1 min"}, {600, "10 min"}, {3600, "1 h"}, {86400, "1 day"}}};
constexpr std::array<std::pair<uint32_t, std::string_view>, 5> kAttempts = {
    {{0, "none"}, {1, "1"}, {5, "2 to 5"}, {20, "6 to 20"}, {UINT32_MAX, "more than 20"}}};

size_t AgeGroup(int64_t seconds) {
  size_t i = 0;
  while (i < kAges.size() && seconds >= kAges[i].first) ++i;
  return i;
}
size_t AttemptsGroup(uint32_t attempts) {
  size_t i = 0;
  while (attempts > kAttempts[i].first) ++i;
  return i;
}

// Numbers of pods. Owners are counted by template first, because even 50,000 pods have few templates.
struct Groups {
  std::unordered_map<const api::PodTemplate*, int64_t> by_template;
  std::array<int64_t, scheduler::kPendingPlaces> by_place{};
  std::array<int64_t, kAges.size() + 1> by_age{};
  std::array<int64_t, kAttempts.size()> by_attempts{};
  // By the reason that decides, and by those that some nodes give beside it.
  std::map<scheduler::FailureReasonId, int64_t> by_reason, also;
  int64_t untried = 0;
};

Groups Count(const PendingPods& pods, int64_t now) {
  Groups g;
  for (const PendingPod& p : pods) {
    ++g.by_template[p.pod->tmpl.get()];
    ++g.by_place[static_cast<size_t>(p.place)];
    if (p.pod->meta.creation_seconds != 0) ++g.by_age[AgeGroup(now - p.pod->meta.creation_seconds)];
    ++g.by_attempts[AttemptsGroup(p.attempts)];
    for (size_t i = 0; i < p.reasons.size(); ++i) ++(i == 0 ? g.by_reason : g.also)[p.reasons[i]];
    g.untried += p.reasons.empty();
  }
  return g;
}

void OwnersJson(const Groups& g, JsonWriter* j) {
  std::map<std::pair<std::string, std::string>, int64_t> owners;
  for (const auto& [tmpl, n] : g.by_template) {
    const auto& o = tmpl->controller;
    owners[{tmpl->ns.string(), o ? absl::StrCat(o->kind.string(), "/", o->name) : ""}] += n;
  }
  std::vector<std::tuple<int64_t, std::string, std::string>> most;
  for (const auto& [owner, n] : owners) most.emplace_back(-n, owner.first, owner.second);
  std::sort(most.begin(), most.end());
  j->Member("owners", static_cast<int64_t>(most.size())).Key("byOwner").Array();
  for (size_t i = 0; i < std::min(most.size(), kMostOwners); ++i) {
    const auto& [n, ns, owner] = most[i];
    j->Object().Member("namespace", ns).Member("owner", owner).Member("pods", -n).End();
  }
  j->End();
}

void GroupsJson(const Groups& g, JsonWriter* j) {
  std::vector<std::pair<int64_t, scheduler::FailureReasonId>> reasons;
  for (const auto& [id, n] : g.by_reason) reasons.emplace_back(-n, id);
  std::sort(reasons.begin(), reasons.end());
  j->Member("withoutReason", g.untried).Key("byReason").Array();
  // Reasons that decide for no pod are left out: repairing them alone would help nobody.
  for (const auto& [n, id] : reasons) {
    const std::string_view reason = FailureReasonText(id);
    const auto also = g.also.find(id);
    j->Object().Member("reason", reason).Member("pods", -n);
    j->Member("alsoGivenFor", also == g.also.end() ? 0 : also->second).Member("help", HelpFor(id)).End();
  }
  j->End().Key("byPlace").Array();
  for (size_t i = 0; i < g.by_place.size(); ++i) {
    if (g.by_place[i] == 0) continue;
    const std::string_view name = scheduler::PlaceName(static_cast<Scheduler::Place>(i));
    j->Object().Member("place", name).Member("meaning", PlaceInWords(name)).Member("pods", g.by_place[i]).End();
  }
  j->End().Key("byAge").Array();
  for (size_t i = 0; i < g.by_age.size(); ++i) {
    const bool last = i == kAges.size();
    const std::string age =
        absl::StrCat(last ? "more than " : "less than ", std::string(kAges[last ? i - 1 : i].second));
    j->Object().Member("age", age).Member("pods", g.by_age[i]).End();
  }
  j->End().Key("byAttempts").Array();
  for (size_t i = 0; i < g.by_attempts.size(); ++i) {
    j->Object().Member("attempts", kAttempts[i].second).Member("pods", g.by_attempts[i]).End();
  }
  j->End();
  OwnersJson(g, j);
}

bool Selected(const PendingPod& p, const PendingFilter& f) {
  if (!f.ns.empty() && p.pod->meta.ns.str() != f.ns) return false;
  if (!f.place.empty() && scheduler::PlaceName(p.place) != f.place) return false;
  if (!f.owner.empty() && OwnerOf(*p.pod) != f.owner) return false;
  return f.reason.empty() || (!p.reasons.empty() && FailureReasonText(p.reasons[0]) == f.reason);
}

void PodJson(const PendingPod& p, JsonWriter* j) {
  const api::Pod& pod = *p.pod;
  j->Object().Member("namespace", pod.meta.ns.str()).Member("name", pod.meta.name);
  j->Member("place", scheduler::PlaceName(p.place)).Member("owner", OwnerOf(pod));
  j->Member("priority", int64_t{pod.Priority()}).Member("created", pod.meta.creation_seconds);
  j->Member("attempts", int64_t{p.attempts}).Key("reasons").Array();
  for (scheduler::FailureReasonId id : p.reasons) j->Text(FailureReasonText(id));
  j->End().Member("message", pod.scheduled ? pod.scheduled->message : "").End();
}

}  // namespace

std::string PendingJson(const PendingPods& pods, const PendingFilter& filter, absl::Time now) {
  JsonWriter j;
  j.Object().Member("time", Millis(now)).Member("pending", static_cast<int64_t>(pods.size()));
  GroupsJson(Count(pods, absl::ToUnixSeconds(now)), &j);
  std::vector<const PendingPod*> selected;
  for (const PendingPod& p : pods) {
    if (Selected(p, filter)) selected.push_back(&p);
  }
  const size_t begin = std::min(filter.offset, selected.size());
  const size_t end = std::min(selected.size(), begin + std::min(filter.limit, kMostListedPods));
  std::partial_sort(selected.begin(), selected.begin() + static_cast<ptrdiff_t>(end), selected.end(),
                    [](const PendingPod* a, const PendingPod* b) {
                      const api::ObjectMeta &x = a->pod->meta, &y = b->pod->meta;
                      return std::tie(x.creation_seconds, x.uid) < std::tie(y.creation_seconds, y.uid);
                    });
  j.Member("selected", static_cast<int64_t>(selected.size())).Member("offset", static_cast<int64_t>(begin));
  j.Key("pods").Array();
  for (size_t i = begin; i < end; ++i) PodJson(*selected[i], &j);
  return j.End().End().Finish("json");
}

}  // namespace berth::ui
