#include "pkg/recording/format.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/time/time.h>

#include <algorithm>
#include <array>
#include <set>

#include "pkg/api/scheduling_fields.h"
#include "pkg/util/status.h"

namespace berth::recording {
namespace {

using api::AppendJsonString;
using scheduler::Answer;
using scheduler::Decision;

// {"in":"Node",...}: the words for the kinds of AnyChange.
#define BERTH_NAME(type, kind, ...) kind,
constexpr std::array<std::string_view, api::WatchedKinds::kSize> kKindNames = {BERTH_WATCHED_KINDS(BERTH_NAME)};
#undef BERTH_NAME

constexpr std::array<std::string_view, 8> kRequestNames = {"bind", "condition", "nominate", "delete",
                                                           "get",  "getNode",   "volume",   "event"};

void Key(std::string_view key, std::string* out) {
  if (!out->empty() && out->back() != '{') out->push_back(',');
  out->push_back('"');
  out->append(key);
  out->append("\":");
}
void Text(std::string_view key, std::string_view value, std::string* out) {
  Key(key, out);
  AppendJsonString(value, out);
}
void Number(std::string_view key, int64_t value, std::string* out) {
  Key(key, out);
  absl::StrAppend(out, value);
}
void TextUnlessEmpty(std::string_view key, std::string_view value, std::string* out) {
  if (!value.empty()) Text(key, value, out);
}
template <typename List, typename F>
void Array(std::string_view key, const List& list, std::string* out, F append) {
  Key(key, out);
  out->push_back('[');
  bool first = true;
  for (const auto& x : list) {
    if (!first) out->push_back(',');
    first = false;
    append(x);
  }
  out->push_back(']');
}
void Condition(const api::PodCondition& c, std::string* out) {
  out->push_back('{');
  Text("status", c.status, out);
  TextUnlessEmpty("reason", c.reason, out);
  TextUnlessEmpty("message", c.message, out);
  TextUnlessEmpty("lastProbeTime", c.last_probe_time, out);
  TextUnlessEmpty("lastTransitionTime", c.last_transition_time, out);
  out->push_back('}');
}

void PodNames(std::string_view key, const std::vector<api::PodPtr>& pods, std::string* out) {
  Array(key, pods, out, [&](const api::PodPtr& p) { AppendJsonString(p->meta.Key(), out); });
}

std::string_view PhaseName(api::PodPhase p) {
  static constexpr std::array<std::string_view, 5> kNames = {"Pending", "Running", "Succeeded", "Failed", "Unknown"};
  return kNames[static_cast<size_t>(p)];
}

void AppendDecision(const DecisionOutput& o, std::string* out) {
  const Decision& d = o.decision;
  *out += "{\"out\":\"decision\"";
  Text("pod", o.pod->meta.Key(), out);
  if (d.outcome == Decision::Outcome::kPlaced) {
    Text("node", d.host.str(), out);
    Number("fit", static_cast<int64_t>(d.feasible), out);
    Number("ties", static_cast<int64_t>(d.ties), out);
  } else {
    Text(d.outcome == Decision::Outcome::kUnfit ? "unfit" : "error", d.error, out);
  }
  Number("counter", static_cast<int64_t>(o.round_robin), out);
  out->push_back('}');
}

void AppendPreemption(const PreemptionOutput& o, std::string* out) {
  const scheduler::Preemption& p = o.preemption;
  *out += "{\"out\":\"preemption\"";
  Text("pod", o.pod->meta.Key(), out);
  TextUnlessEmpty("node", p.node.str(), out);
  if (!p.victims.empty()) PodNames("victims", p.victims, out);
  if (!p.nominated_to_clear.empty()) PodNames("clear", p.nominated_to_clear, out);
  TextUnlessEmpty("error", p.error, out);
  out->push_back('}');
}

void AppendRequest(const RequestOutput& r, std::string* out) {
  using K = RequestOutput::Kind;
  *out += "{\"out\":\"";
  out->append(kRequestNames[static_cast<size_t>(r.kind)]);
  out->push_back('"');
  if (r.id != 0) Number("id", static_cast<int64_t>(r.id), out);
  if (r.pod != nullptr) Text("pod", r.pod->meta.Key(), out);
  TextUnlessEmpty("pod", r.pod_name, out);
  switch (r.kind) {
    case K::kBind:
      Text("node", r.name, out);
      if (r.flag) *out += ",\"extender\":true";
      break;
    case K::kCondition:
      Key("condition", out);
      Condition(*r.condition, out);
      break;
    case K::kNominate:
    case K::kGetNode:
      Text("node", r.name, out);
      break;
    case K::kVolume:
      Text("volume", r.name, out);
      Text("claim", r.text, out);
      if (r.flag) *out += ",\"annotate\":true";
      break;
    case K::kEvent:
      Text("reason", r.name, out);
      Text("message", r.text, out);
      if (r.flag) *out += ",\"warning\":true";
      break;
    case K::kDelete:
    case K::kGet:
      break;
  }
  out->push_back('}');
}

void AppendExtenderAnswer(const ExtenderAnswer& a, std::string* out) {
  *out += "{\"in\":\"extender\"";
  Text("extender", a.extender, out);
  Text("call", a.call == ExtenderAnswer::Call::kFilter ? "filter" : "prioritize", out);
  if (!a.error.empty()) {
    Text("error", a.error, out);
  } else if (a.call == ExtenderAnswer::Call::kFilter) {
    Array("nodes", a.nodes, out, [&](const std::string& n) { AppendJsonString(n, out); });
    if (!a.failed.empty()) {
      Array("failed", a.failed, out, [&](const auto& f) {
        out->push_back('[');
        AppendJsonString(f.first, out);
        out->push_back(',');
        AppendJsonString(f.second, out);
        out->push_back(']');
      });
    }
  } else {
    Array("scores", a.scores, out, [&](const auto& s) {
      out->push_back('[');
      AppendJsonString(s.first, out);
      absl::StrAppend(out, ",", s.second, "]");
    });
  }
  out->push_back('}');
}

}  // namespace

std::string_view KindName(size_t index) {
  return kKindNames[index];
}

std::string_view AnswerName(Answer::Kind k) {
  static constexpr std::array<std::string_view, 6> kNames = {"ok",      "notFound",    "conflict",
                                                             "refused", "serverError", "lost"};
  return kNames[static_cast<size_t>(k)];
}

bool SameForScheduling(const api::Pod& a, const api::Pod& b) {
  return a.meta.uid == b.meta.uid && a.meta.name == b.meta.name && a.tmpl == b.tmpl && a.node_name == b.node_name &&
         a.Finished() == b.Finished() && a.meta.deletion_seconds == b.meta.deletion_seconds &&
         a.nominated_node_name == b.nominated_node_name;
}

// ---- the header ---------------------------------------------------------------------------------

std::string HeaderLine(const Header& h) {
  std::string s = "{\"recording\":{";
  Number("format", h.format, &s);
  Text("version", h.version, &s);
  Text("run", h.run, &s);
  Number("segment", h.segment, &s);
  Text("time", absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(h.wall_seconds), absl::UTCTimeZone()), &s);
  if (h.after_gap) s += ",\"afterGap\":true";
  const CoreConfiguration& c = h.configuration;
  Text("release", c.release, &s);
  Key("gates", &s);
  s.push_back('{');
  for (const auto& [gate, on] : c.gates) {
    Key(gate, &s);
    s += on ? "true" : "false";
  }
  s.push_back('}');
  Array("profiles", c.profiles, &s, [&](const ProfileSource& p) {
    s.push_back('{');
    Text("schedulerName", p.scheduler_name, &s);
    TextUnlessEmpty("provider", p.provider, &s);
    // As text: a Policy is taken as its file said it, with line breaks that would break the line.
    TextUnlessEmpty("policy", p.policy, &s);
    TextUnlessEmpty("configuration", p.configuration, &s);
    s.push_back('}');
  });
  Number("hardPodAffinitySymmetricWeight", c.hard_pod_affinity_symmetric_weight, &s);
  Number("initialBackoffMicros", absl::ToInt64Microseconds(c.initial_backoff), &s);
  Number("maxBackoffMicros", absl::ToInt64Microseconds(c.max_backoff), &s);
  Number("unschedulableLimitMicros", absl::ToInt64Microseconds(c.unschedulable_limit), &s);
  Number("maxRequestsInFlight", c.max_requests_in_flight, &s);
  if (!h.flags.empty()) {
    Key("flags", &s);
    s.push_back('{');
    for (const auto& [flag, value] : h.flags) {
      if (s.back() != '{') s.push_back(',');
      AppendJsonString(flag, &s);
      s.push_back(':');
      AppendJsonString(value, &s);
    }
    s.push_back('}');
  }
  return s + "}}";
}

std::string OutputLine(const Event& e) {
  std::string s;
  if (const auto* d = std::get_if<DecisionOutput>(&e.what)) {
    AppendDecision(*d, &s);
  } else if (const auto* p = std::get_if<PreemptionOutput>(&e.what)) {
    AppendPreemption(*p, &s);
  } else if (const auto* r = std::get_if<RequestOutput>(&e.what)) {
    AppendRequest(*r, &s);
  }
  return s;
}

// ---- the cluster so far -------------------------------------------------------------------------

void ClusterState::Note(const AnyChange& any) {
  std::visit(
      [this]<typename T>(const scheduler::Change<T>& c) {
        if (c.before != nullptr && (c.after == nullptr || c.after->meta.Key() != c.before->meta.Key())) {
          Set<T>(c.before->meta.Key(), nullptr);
        }
        if (c.after != nullptr) Set<T>(c.after->meta.Key(), c.after);
        if constexpr (std::is_same_v<T, api::Pod>) {
          if (c.before != nullptr && (c.after == nullptr || c.after->meta.uid != c.before->meta.uid)) {
            Drop(c.before->meta.uid);
            nominated.erase(c.before->meta.uid);
          }
          if (c.after != nullptr && (!c.after->node_name.empty() || c.after->Finished())) {
            Drop(c.after->meta.uid);
            nominated.erase(c.after->meta.uid);
          }
          if (c.after != nullptr) (void)Shown(*c.after);
        }
      },
      any);
}

void InFlight::Binds(scheduler::RequestId id, const std::string& uid, const std::string& node) {
  assumed[uid] = node;
  bound.erase(uid);
  open_binds[id] = uid;
}

void InFlight::Nominates(scheduler::RequestId id, const std::string& uid, const std::string& node) {
  if (node.empty()) {
    nominated.erase(uid);
    return;
  }
  nominated[uid] = {node, ""};
  open_nominations[id] = uid;
}

std::optional<std::string> InFlight::Shown(const api::Pod& pod) {
  auto it = nominated.find(pod.meta.uid);
  if (it == nominated.end()) return std::nullopt;
  const auto& [node, version] = it->second;
  uint64_t shown = 0, written = 0;
  const bool newer =
      absl::SimpleAtoi(pod.meta.resource_version, &shown) && absl::SimpleAtoi(version, &written) && shown >= written;
  if (!newer && pod.nominated_node_name.str() != node) return node;
  nominated.erase(it);
  return std::nullopt;
}

bool InFlight::IsRejection(std::string_view event_message) {
  return event_message.substr(0, 18) == "Binding rejected: ";
}

std::string InFlight::Answered(const scheduler::Reply& r) {
  const Answer::Kind k = r.answer.kind;
  const auto no_longer = [this](const std::string& uid) {
    const bool was = assumed.contains(uid);
    Drop(uid);
    return was ? uid : std::string();
  };
  if (auto it = open_binds.find(r.id); it != open_binds.end()) {
    const std::string uid = it->second;
    open_binds.erase(it);
    if (k == Answer::Kind::kOk) bound.insert(uid);
    // After these the bind may have been carried out all the same.
    if (k == Answer::Kind::kOk || k == Answer::Kind::kServerError || k == Answer::Kind::kLost) return "";
    return no_longer(uid);
  }
  if (auto it = open_nominations.find(r.id); it != open_nominations.end()) {
    if (k != Answer::Kind::kOk) {
      nominated.erase(it->second);
    } else if (auto n = nominated.find(it->second); n != nominated.end() && r.pod != nullptr) {
      n->second.second = r.pod->meta.resource_version;
    }
    open_nominations.erase(it);
    return "";
  }
  if (auto it = open_gets.find(r.id); it != open_gets.end()) {
    const std::string uid = it->second;
    open_gets.erase(it);
    const bool gone = k == Answer::Kind::kNotFound || (r.pod != nullptr && r.pod->meta.uid != uid);
    // A pod that was bound and has no node now is tried again; before that, the same bind may be sent again.
    const bool unbound = r.pod != nullptr && r.pod->node_name.empty() && bound.contains(uid);
    if (gone || unbound) return no_longer(uid);
  }
  return "";
}

// ---- lines --------------------------------------------------------------------------------------

void LineWriter::BeginSegment() {
  templates_.clear();
  last_template_ = 0;
  last_steady_ = 0;
}

int64_t LineWriter::TemplateId(const std::shared_ptr<const api::PodTemplate>& t, std::string* out) {
  Known& known = templates_[t.get()];
  if (known.owner != nullptr) return known.id;
  const auto fields = api::TemplateFields(t);
  if (fields == nullptr) ++unknown_;
  known = {t, ++last_template_};
  absl::StrAppend(out, "{\"template\":", known.id, ",\"pod\":", fields != nullptr ? *fields : std::string("{}"), "}\n");
  return known.id;
}

// What differs between pods of one template, and which one it is. REQUIRES: TemplateId was called for it.
void LineWriter::AppendPod(const api::Pod& pod, std::string* out) {
  out->push_back('{');
  Text("name", pod.meta.name, out);
  TextUnlessEmpty("uid", pod.meta.uid, out);
  TextUnlessEmpty("rv", pod.meta.resource_version, out);
  if (pod.meta.creation_seconds != 0) Number("created", pod.meta.creation_seconds, out);
  if (pod.meta.deletion_seconds) Number("deleted", *pod.meta.deletion_seconds, out);
  TextUnlessEmpty("node", pod.node_name.str(), out);
  TextUnlessEmpty("nominated", pod.nominated_node_name.str(), out);
  if (pod.phase != api::PodPhase::kPending) Text("phase", PhaseName(pod.phase), out);
  if (pod.scheduled) {
    Key("scheduled", out);
    Condition(*pod.scheduled, out);
  }
  if (pod.start_seconds) Number("started", *pod.start_seconds, out);
  if (pod.preempted_by_scheduler) *out += ",\"preempted\":true";
  Number("of", templates_[pod.tmpl.get()].id, out);
  out->push_back('}');
}

template <typename T>
void LineWriter::AppendObject(const T& object, std::string* out) {
  if constexpr (std::is_same_v<T, api::Pod>) {
    AppendPod(object, out);
  } else if (object.meta.fields != nullptr) {
    *out += *object.meta.fields;
  } else {
    ++unknown_;
    *out += "{\"metadata\":{";
    TextUnlessEmpty("namespace", object.meta.ns.str(), out);
    Text("name", object.meta.name, out);
    *out += "}}";
  }
}

void LineWriter::AppendTimes(const Event& e, std::string* out) {
  if (!e.steady.empty()) {
    // The steady clock counts from the reading before; most readings are then a digit or two.
    int64_t last = std::exchange(last_steady_, e.steady.back());
    Key("t", out);
    if (e.steady.size() == 1) {
      absl::StrAppend(out, e.steady[0] - last);
    } else {
      char separator = '[';
      for (int64_t t : e.steady) {
        out->push_back(separator);
        absl::StrAppend(out, t - last);
        last = t;
        separator = ',';
      }
      out->push_back(']');
    }
  }
  if (!e.wall.empty()) {
    Array("wall", e.wall, out, [&](int64_t s) { absl::StrAppend(out, s); });
  }
}

// A change says what the object is now, or which is gone. What it was is the object shown last, unless "was" says
// otherwise.
template <typename T>
void LineWriter::AppendChange(size_t kind, const scheduler::Change<T>& c, std::string* out) {
  const std::string key = (c.after != nullptr ? c.after : c.before)->meta.Key();
  const std::shared_ptr<const T> known = state_.Find<T>(key);
  bool as_known = c.before == known;
  if constexpr (std::is_same_v<T, api::Pod>) {
    as_known |= c.before != nullptr && known != nullptr && SameForScheduling(*c.before, *known);
  } else if constexpr (std::is_same_v<T, api::Node>) {
    as_known |= c.before != nullptr && known != nullptr && c.before->SchedulesLike(*known);
  } else {
    // Of other kinds nothing is read of what they were but their names.
    as_known |= c.before != nullptr && known != nullptr;
  }
  (void)kind;
  if (c.after != nullptr) {
    Key("is", out);
    AppendObject(*c.after, out);
  } else if (as_known) {
    Text("gone", key, out);
  }
  if (as_known) return;
  Key("was", out);
  if (c.before == nullptr) {
    *out += "null";
  } else {
    AppendObject(*c.before, out);
  }
}

void LineWriter::Append(const Event& e, std::string* out) {
  std::string line;
  if (const auto* any = std::get_if<AnyChange>(&e.what)) {
    if (const auto* pods = std::get_if<scheduler::Change<api::Pod>>(any)) {
      for (const auto* p : {pods->before.get(), pods->after.get()}) {
        if (p != nullptr) TemplateId(p->tmpl, out);
      }
    }
    line = absl::StrCat("{\"in\":\"", std::string(KindName(any->index())), "\"");
    AppendTimes(e, &line);
    std::visit([&](const auto& c) { AppendChange(any->index(), c, &line); }, *any);
    line.push_back('}');
  } else if (const auto* r = std::get_if<scheduler::Reply>(&e.what)) {
    if (r->pod != nullptr) TemplateId(r->pod->tmpl, out);
    line = "{\"in\":\"reply\"";
    AppendTimes(e, &line);
    Number("id", static_cast<int64_t>(r->id), &line);
    if (!r->answer.ok()) {
      Text("answer", AnswerName(r->answer.kind), &line);
      TextUnlessEmpty("message", r->answer.message, &line);
      TextUnlessEmpty("details", r->answer.details_kind, &line);
    }
    if (r->pod != nullptr) {
      Key("pod", &line);
      AppendPod(*r->pod, &line);
    }
    line.push_back('}');
  } else if (const auto* a = std::get_if<ExtenderAnswer>(&e.what)) {
    AppendExtenderAnswer(*a, &line);
  } else if (e.IsInput()) {
    const char* word = std::holds_alternative<TickInput>(e.what)       ? "tick"
                       : std::holds_alternative<ScheduleInput>(e.what) ? "schedule"
                                                                       : "stop";
    line = absl::StrCat("{\"in\":\"", word, "\"");
    AppendTimes(e, &line);
    line.push_back('}');
  } else {
    line = OutputLine(e);
  }
  *out += line;
  out->push_back('\n');
  Note(e);
}

void LineWriter::Note(const Event& e) {
  if (const auto* any = std::get_if<AnyChange>(&e.what)) {
    state_.Note(*any);
  } else if (const auto* r = std::get_if<scheduler::Reply>(&e.what)) {
    (void)state_.Answered(*r);
  } else if (const auto* d = std::get_if<DecisionOutput>(&e.what)) {
    state_.Drop(d->pod->meta.uid);
    state_.round_robin[d->pod->tmpl->scheduler_name.string()] = d->round_robin;
  } else if (const auto* q = std::get_if<RequestOutput>(&e.what)) {
    if (q->kind == RequestOutput::Kind::kBind) {
      state_.Binds(q->id, q->pod->meta.uid, q->name);
    } else if (q->kind == RequestOutput::Kind::kGet) {
      state_.Reads(q->id, q->text);
    } else if (q->kind == RequestOutput::Kind::kNominate) {
      state_.Nominates(q->id, q->pod->meta.uid, q->name);
    } else if (q->kind == RequestOutput::Kind::kEvent && InFlight::IsRejection(q->text)) {
      state_.Drop(q->pod->meta.uid);
    }
  }
}

void LineWriter::Checkpoint(std::string* out) {
  state_.ForEach([&](size_t kind, const std::string&, const auto& object) {
    using T = std::remove_const_t<typename std::decay_t<decltype(object)>::element_type>;
    if constexpr (std::is_same_v<T, api::Pod>) TemplateId(object->tmpl, out);
    absl::StrAppend(out, "{\"object\":\"", std::string(KindName(kind)), "\",\"is\":");
    AppendObject(*object, out);
    *out += "}\n";
  });
  std::string state = "{\"state\":{";
  const auto map = [&](std::string_view key, const auto& entries, auto append) {
    Key(key, &state);
    state.push_back('{');
    for (const auto& [k, v] : entries) {
      if (state.back() != '{') state.push_back(',');
      AppendJsonString(k, &state);
      state.push_back(':');
      append(v);
    }
    state.push_back('}');
  };
  const auto text = [&](const std::string& v) { AppendJsonString(v, &state); };
  map("assumed", state_.assumed, text);
  map("nominated", state_.nominated, [&](const auto& n) {
    state.push_back('[');
    AppendJsonString(n.first, &state);
    state.push_back(',');
    AppendJsonString(n.second, &state);
    state.push_back(']');
  });
  map("counters", state_.round_robin, [&](uint64_t n) { absl::StrAppend(&state, n); });
  const auto requests = [&](std::string_view key, const auto& open) {
    Array(key, open, &state, [&](const auto& b) {
      absl::StrAppend(&state, "[", b.first, ",");
      AppendJsonString(b.second, &state);
      state.push_back(']');
    });
  };
  requests("openBinds", state_.open_binds);
  requests("openGets", state_.open_gets);
  requests("openNominations", state_.open_nominations);
  Array("bound", state_.bound, &state, [&](const std::string& uid) { AppendJsonString(uid, &state); });
  *out += state + "}}\n{\"checkpoint\":\"end\"}\n";
}

}  // namespace berth::recording
