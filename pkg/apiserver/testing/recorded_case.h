// Plays recorded cases step by step, and compares the answers and, where the recording looked, the objects. What the
// steps mean is beside the code of each.
#pragma once
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pkg/apiserver/rest.h"
#include "pkg/apiserver/testing/recorded_objects.h"
#include "pkg/world/living/kubelets.h"

namespace berth::apiserver::testing {

// What a node and the pods are like at a moment: texts by what they are about.
using Moment = std::map<std::string, std::string>;
struct TimedMoment {
  double after = 0;  // seconds from the beginning of the step
  Moment what;
};

inline std::string TextOfConditions(const Value* list, bool of_pod) {
  std::vector<std::string> out;
  if (list == nullptr) return "";
  static const std::set<std::string_view> kOfPods = {"Ready", "DisruptionTarget", "SchedulingGated"};
  for (const Value& c : list->items) {
    if (of_pod && !kOfPods.contains(c.Str("type"))) continue;
    out.push_back(absl::StrCat(util::ToAbsl(c.Str("type")), "=", util::ToAbsl(c.Str("status")), " ",
                               of_pod && c.Str("type") == "Ready" ? "" : util::ToAbsl(c.Str("reason"))));
  }
  std::sort(out.begin(), out.end());
  return absl::StrJoin(out, ", ");
}

// The taints by their keys, "key=value:effect"; whether it is cordoned; and its conditions.
inline std::string TextOfNode(const Value* taints, const Value* conditions, bool unschedulable) {
  std::vector<std::string> out;
  for (const Value& t : taints == nullptr ? std::vector<Value>() : taints->items) {
    out.push_back(absl::StrCat(util::ToAbsl(t.Str("key")), "=", util::ToAbsl(t.Str("value")), ":",
                               util::ToAbsl(t.Str("effect"))));
  }
  std::sort(out.begin(), out.end());
  return absl::StrCat(absl::StrJoin(out, " "), unschedulable ? " cordoned" : "", "; ",
                      TextOfConditions(conditions, false));
}

inline Moment MomentOf(const PlayedCluster& played, const std::string& node, const std::vector<std::string>& hashes) {
  Moment m;
  const std::optional<Value> v = played.Get("Node", node);
  m["node"] = !v ? "gone"
                 : TextOfNode(v->At({"spec", "taints"}), v->At({"status", "conditions"}),
                              world::living::TrueAt(*v, {"spec", "unschedulable"}));
  for (const Value& pod : played.All("Pod")) {
    const std::string prefix(TextAt(pod, {"metadata", "generateName"}));
    std::string name = prefix.empty() ? std::string(world::NameOf(pod)) : prefix + "*";
    for (size_t i = 0; i < hashes.size(); ++i) {
      absl::StrReplaceAll({{hashes[i], absl::StrCat("HASH", i + 1)}}, &name);
    }
    const std::string_view on = TextAt(pod, {"spec", "nodeName"});
    m[absl::StrCat(name, " on ", on.empty() ? "None" : util::ToAbsl(on))] = absl::StrCat(
        util::ToAbsl(TextAt(pod, {"status", "phase"})), " ", world::living::IsTerminating(pod) ? "deleting " : "",
        TextOfConditions(pod.At({"status", "conditions"}), true));
  }
  return m;
}

inline Moment MomentOf(const Value& recorded) {
  Moment m;
  const Value& node = *recorded.Find("node");
  m["node"] = node.Find("code") != nullptr ? "gone"
                                           : TextOfNode(node.Find("taints"), node.Find("conditions"),
                                                        world::living::TrueAt(node, {"unschedulable"}));
  const Value& pods = *recorded.Find("pods");
  for (size_t i = 0; i < pods.keys.size(); ++i) {
    const Value& p = pods.items[i];
    m[pods.keys[i]] =
        absl::StrCat(util::ToAbsl(p.Str("phase")), " ", world::living::TrueAt(p, {"deleting"}) ? "deleting " : "",
                     TextOfConditions(p.Find("conditions"), true));
  }
  return m;
}

// What something has been like: each state with the time from which it was so; "" while it is not there.
using History = std::vector<std::pair<double, std::string>>;
inline std::map<std::string, History> HistoriesOf(const std::vector<TimedMoment>& moments) {
  std::map<std::string, History> out;
  for (const TimedMoment& t : moments) {
    for (const auto& [about, text] : t.what) out.try_emplace(about);
  }
  for (const TimedMoment& t : moments) {
    for (auto& [about, history] : out) {
      auto it = t.what.find(about);
      const std::string text = it == t.what.end() ? "" : it->second;
      if (history.empty() || history.back().second != text) history.emplace_back(t.after, text);
    }
  }
  return out;
}

// Everything ends in its recorded state, at its time. What was there between two looks of the recording's controllers
// may be missing here, or be more.
inline void CompareHistories(const std::vector<TimedMoment>& recorded, const std::vector<TimedMoment>& played,
                             double tolerance) {
  const auto want = HistoriesOf(recorded), got = HistoriesOf(played);
  for (const auto& [about, history] : want) {
    INFO(about);
    auto it = got.find(about);
    // A pod that waits for a node shorter than the recording's scheduler took.
    if (it == got.end() && about.ends_with(" on None")) continue;
    REQUIRE(it != got.end());
    CHECK(it->second.back().second == history.back().second);
    INFO("recorded at " << history.back().first << " s, here at " << it->second.back().first << " s");
    CHECK(std::abs(it->second.back().first - history.back().first) <= tolerance);
  }
  for (const auto& [about, history] : got) {
    INFO(about);
    // What is gone within a moment was gone before the recording's first look.
    CHECK((want.contains(about) || (history.back().second.empty() && history.back().first <= 0.5)));
  }
}

class RecordedCase {
 public:
  explicit RecordedCase(const std::string& name) : name_(name), recorded_(ReadRecorded(name)) {
    constexpr int kFirstOfSecondPart = 40;
    int number = 0;
    REQUIRE(absl::SimpleAtoi(name.substr(0, name.find('-')), &number));
    volumes_ = number >= kFirstOfSecondPart;
  }

  // Lets time pass before the first step, for what depends on when the controllers look.
  RecordedCase& After(absl::Duration time) {
    played_.Run(time);
    return *this;
  }

  void Play() {
    for (const Value& step : recorded_.Find("steps")->items) {
      INFO(ToJson(step).substr(0, 200));
      const bool known = Write(step) || Pods(step) || Nodes(step) || Look(step);
      if (!known) FAIL("a step of an unknown kind: " << ToJson(step));
    }
    // The controllers have seen the last step, the kubelets have not acted on it.
    played_.Run(kTick);
    // These recordings end amid the replacement of what was evicted: what is there depends on the moment.
    static const std::set<std::string> kEndAmid = {"22-pdb-of-deployment", "24-pdb-unhealthy-always-allow"};
    if (!kEndAmid.contains(name_)) CompareAll(*recorded_.At({"want", "objects"}), played_, volumes_);
  }

 private:
  const Value& Answer() {
    const Value& answers = *recorded_.At({"want", "answers"});
    REQUIRE(next_ < answers.items.size());
    return answers.items[next_++];
  }
  std::string Message() {
    return absl::StrReplaceAll(util::ToAbsl(Answer().Str("message")), {{"NAMESPACE", kPlayedNamespace}});
  }
  // The recordings of the first part have no answers to deletions of classes and the like.
  void SkipAnswerTo(std::string_view what) {
    const Value& answers = *recorded_.At({"want", "answers"});
    if (next_ < answers.items.size() && answers.items[next_].Find(what) != nullptr) ++next_;
  }
  // Returns the pods by name that are not being deleted.
  std::vector<Value> Living() const {
    std::vector<Value> pods = played_.All("Pod");
    std::erase_if(pods, [](const Value& pod) { return world::living::IsTerminating(pod); });
    REQUIRE(!pods.empty());
    return pods;
  }

  // Creations, changes and deletions of objects.
  bool Write(const Value& step) {
    if (const Value* create = step.Find("create")) {
      for (const Value& v : create->items) CHECK(WithoutUids(played_.Create(v)) == Message());
    } else if (const Value* patch = step.Find("patch")) {
      CHECK(played_.Patch(*patch) == Message());
    } else if (const Value* rm = step.Find("rm")) {
      played_.Delete(rm->items[0].text(), rm->items[1].text(), "Background");
      SkipAnswerTo("delete");
    } else if (const Value* del = step.Find("del")) {
      played_.Delete(del->items[0].text(), del->items[1].text(), del->items[2].text());
      Answer();
    } else if (const Value* plain = step.Find("deldefault")) {
      played_.Delete(plain->items[0].text(), plain->items[1].text(), "");
      Answer();
    } else if (step.Find("delns") != nullptr) {
      played_.Delete("Namespace", kPlayedNamespace, "");
      SkipAnswerTo("delete");
    } else {
      return false;
    }
    return true;
  }
  // Replaces the uids in a message as the recordings do.
  static std::string WithoutUids(const std::string& message) {
    static const std::regex uid("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
    return std::regex_replace(message, uid, "UID");
  }

  bool Pods(const Value& step) {
    if (step.Find("evict") != nullptr) {
      CHECK(played_.Evict(world::NameOf(Living().front())) == Message());
    } else if (step.Find("evictdry") != nullptr) {
      CHECK(played_.Evict(world::NameOf(Living().front()), true) == Message());
    } else if (const Value* name = step.Find("evictname")) {
      CHECK(played_.Evict(name->items[0].text()) == Message());
    } else if (const Value* other = step.Find("evictother")) {
      CHECK(EvictWithBodyFor(other->items[0].text(), other->items[1].text()) == Message());
    } else if (const Value* which = step.Find("delpod")) {
      const std::vector<Value> pods = Living();
      const size_t i = which->items.empty() ? 0 : static_cast<size_t>(which->items[0].AsInt());
      played_.Delete("Pod", world::NameOf(pods.at(i)), "");
      Answer();
    } else if (const Value* labels = step.Find("labelpod")) {
      played_.Change("Pod", world::NameOf(Living().front()), [&](Value* v) {
        const Value& given = labels->items[0];
        for (size_t i = 0; i < given.keys.size(); ++i)
          v->Child("metadata").Child("labels").Set(given.keys[i], given.items[i]);
      });
    } else if (const Value* ready = step.Find("podready")) {
      played_.SetCondition("Pod", ready->items[0].text(), {"Ready", ready->items[1].text(), "", ""});
    } else {
      return false;
    }
    return true;
  }
  std::string EvictWithBodyFor(const std::string& pod, const std::string& other) {
    HttpRequest request;
    request.method = "POST";
    request.path = absl::StrCat("/api/v1/namespaces/", kPlayedNamespace, "/pods/", pod, "/eviction");
    const std::string body =
        absl::StrCat(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")", other, R"("}})");
    request.body = body;
    Api api(&played_.registry(), &played_.clock());
    return std::string(Parse(api.Handle(request).body).Str("message"));
  }

  bool Nodes(const Value& step) {
    if (const Value* lease = step.Find("lease")) {
      played_.Annotate("Node", lease->items[0].text(), world::living::kDownAnnotation,
                       lease->items[1].text() == "stops" ? "true" : "false");
      Answer();
      from_monitor_ = true;
    } else if (const Value* c = step.Find("condition")) {
      const std::string& reason = c->items[3].text();
      played_.SetCondition("Node", c->items[0].text(), {c->items[1].text(), c->items[2].text(), reason, reason});
    } else if (const Value* taint = step.Find("taint")) {
      played_.Change("Node", taint->items[0].text(), [&](Value* v) {
        Value& spec = v->Child("spec");
        if (spec.Find("taints") == nullptr) spec.Set("taints", Value::Array());
        for (const Value& t : taint->items[1].items) spec.Find("taints")->Append(t);
      });
    } else if (const Value* untaint = step.Find("untaint")) {
      played_.Change("Node", untaint->items[0].text(), [&](Value* v) {
        Value* taints = v->At({"spec", "taints"});
        REQUIRE(taints != nullptr);
        const Value& which = untaint->items[1];
        taints->items.EraseIf(
            [&](const Value& t) { return t.Str("key") == which.Str("key") && t.Str("effect") == which.Str("effect"); });
      });
    } else if (const Value* cordon = step.Find("cordon")) {
      played_.Change("Node", cordon->items[0].text(),
                     [&](Value* v) { v->Child("spec").Set("unschedulable", Value::Bool(cordon->items[1].AsBool())); });
    } else if (const Value* added = step.Find("node_add")) {
      const std::string& name = added->items[0].text();
      played_.AddNode(name, added->items[1].AsBool());
      CheckNode(name, Answer(), false);
    } else if (const Value* ready = step.Find("node_ready")) {
      played_.Annotate("Node", ready->items[0].text(), world::living::kDownAnnotation, "false");
    } else if (const Value* gone = step.Find("node_rm")) {
      played_.Delete("Node", gone->items[0].text(), "");
      is_gone_ = true;
    } else {
      return false;
    }
    return true;
  }
  void CheckNode(const std::string& name, const Value& want, bool conditions) {
    const std::optional<Value> v = played_.Get("Node", name);
    REQUIRE(v.has_value());
    auto text = [&](const Value* taints, const Value* all, bool unschedulable) {
      return TextOfNode(taints, conditions ? all : nullptr, unschedulable);
    };
    CHECK(text(v->At({"spec", "taints"}), v->At({"status", "conditions"}),
               world::living::TrueAt(*v, {"spec", "unschedulable"})) ==
          text(want.Find("taints"), want.Find("conditions"), world::living::TrueAt(want, {"unschedulable"})));
  }

  // Steps that look, or let time pass.
  bool Look(const Value& step) {
    if (step.Find("snap") != nullptr) {
      const Value& want = *Answer().Find("objects");
      // The kubelets of the recordings run pods on a node that they have not reported yet; those here do not.
      if (name_ == "136-node-joins-and-leaves" && std::exchange(snaps_, snaps_ + 1) == 0) return true;
      CompareAll(want, played_, volumes_);
    } else if (step.Find("settle") != nullptr || step.Find("watchCounts") != nullptr) {
      double seconds = 8;
      const Value* given = step.Find("seconds");
      if (given != nullptr && !absl::SimpleAtod(given->text(), &seconds)) seconds = 8;
      played_.Run(absl::Seconds(seconds));
      if (step.Find("watchCounts") != nullptr) Answer();
    } else if (step.Find("quotas") != nullptr) {
      Answer();
    } else if (step.Find("ns") != nullptr) {
      CheckNamespace(*Answer().Find("namespace"));
    } else if (step.Find("waitfor") != nullptr) {
      played_.Run(absl::Seconds(61));
    } else if (const Value* node = step.Find("node")) {
      CheckNode(node->items[0].text(), Answer(), true);
    } else if (const Value* timeline = step.Find("timeline")) {
      Timeline(timeline->items[0].text(), timeline->items[1].AsInt());
    } else {
      return false;
    }
    return true;
  }
  void CheckNamespace(const Value& want) {
    const std::optional<Value> v = played_.Get("Namespace", kPlayedNamespace);
    CHECK(v.has_value() == (want.Find("code")->AsInt() == 200));
    if (!v) return;
    CHECK(TextAt(*v, {"status", "phase"}) == want.Str("phase"));
    const Value* conditions = want.Find("conditions");
    if (conditions == nullptr || !conditions->IsArray()) return;
    for (const Value& c : conditions->items) {
      const Value* have = world::living::ConditionOf(*v, c.Str("type"));
      INFO(c.Str("type"));
      REQUIRE(have != nullptr);
      for (std::string_view member : {"status", "reason", "message"}) CHECK(have->Str(member) == c.Str(member));
    }
  }
  // Periods of the controllers that the recordings cannot be exact about: the monitor's 5 s, a taint's seconds, and the
  // collector's 20 s.
  void Timeline(const std::string& node, int64_t seconds) {
    constexpr absl::Duration kLookEvery = absl::Milliseconds(200);
    std::vector<TimedMoment> recorded, played;
    for (const Value& v : Answer().items.front().items) {
      double after = 0;
      REQUIRE(absl::SimpleAtod(v.Find("after")->text(), &after));
      recorded.push_back({after, MomentOf(v)});
    }
    for (absl::Duration t; t <= absl::Seconds(seconds); t += kLookEvery) {
      played.push_back({absl::ToDoubleSeconds(t), MomentOf(played_, node, HashesOf(played_))});
      played_.Run(kLookEvery);
    }
    CompareHistories(recorded, played, is_gone_ ? 15 : from_monitor_ ? 5.5 : 1);
  }

  const std::string name_;
  const Value recorded_;
  PlayedCluster played_;
  bool volumes_ = false, from_monitor_ = false, is_gone_ = false;
  size_t next_ = 0, snaps_ = 0;
};

inline void PlayAll(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    INFO(name);
    RecordedCase(name).Play();
  }
}

}  // namespace berth::apiserver::testing
