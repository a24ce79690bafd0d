// Writes lines. Invariant: what a line leaves out because an earlier line of the segment has it is in `state_`, and a
// reader of the segment can restore it from the same state.
#include "pkg/recording/format.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <set>

#include "pkg/api/scheduling_fields.h"
#include "pkg/util/status.h"

namespace berth::recording {
namespace {

using api::AppendJsonString;
using scheduler::Answer;
using scheduler::Decision;

constexpr std::array<std::string_view, 11> kRequestNames = {
    "bind", "condition", "nominate", "delete", "get", "getNode", "volume", "event", "patch", "markVictim", "claim"};

// Appends the key of an object's next member, in a single append, as there are some thirty of them for each pod. Lines
// begin with the member that says what they are, so `out` is never empty. REQUIRES: `key` has at most 60 characters.
void Key(std::string_view key, std::string* out) {
  char text[64] = ",\"";
  std::memcpy(text + 2, key.data(), key.size());
  std::memcpy(text + 2 + key.size(), "\":", 2);
  const bool first = out->back() == '{';
  out->append(text + first, key.size() + 4 - first);
}
void Text(std::string_view key, std::string_view value, std::string* out) {
  Key(key, out);
  AppendJsonString(value, out);
}
void AppendNumber(int64_t value, std::string* out) {
  if (value >= 0 && value < 10) return out->push_back(static_cast<char>('0' + value));
  char digits[24];
  out->append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}
void Number(std::string_view key, int64_t value, std::string* out) {
  Key(key, out);
  AppendNumber(value, out);
}
// Appends an object's "namespace/name", or the name alone.
void KeyOf(std::string_view key, const api::ObjectMeta& meta, std::string* out) {
  Key(key, out);
  AppendJsonString(meta.ns.str(), out);
  if (meta.ns.empty()) {
    out->pop_back();
  } else {
    out->back() = '/';
  }
  // Removes the quotation mark before the name.
  const size_t quote = out->size();
  AppendJsonString(meta.name, out);
  out->erase(quote, 1);
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

// Appends the members of a decision for a node.
void AppendPlacement(const api::ObjectMeta& pod, util::Symbol node, size_t feasible, size_t ties, uint64_t counter,
                     std::string* out) {
  KeyOf("pod", pod, out);
  Text("node", node.str(), out);
  Number("fit", static_cast<int64_t>(feasible), out);
  Number("ties", static_cast<int64_t>(ties), out);
  Number("counter", static_cast<int64_t>(counter), out);
}

// Appends the short form of the event that a pod was assigned, without the closing brace.
void AppendAssigned(const api::ObjectMeta& pod, util::Symbol node, bool by_key, std::string* out) {
  *out += by_key ? "{\"out\":\"assignedByKey\"" : "{\"out\":\"assigned\"";
  KeyOf("pod", pod, out);
  Text("node", node.str(), out);
}

void AppendDecision(const DecisionOutput& d, std::string* out) {
  *out += "{\"out\":\"decision\"";
  if (d.outcome == Decision::Outcome::kPlaced) {
    AppendPlacement(d.pod->meta, d.host, d.feasible, d.ties, d.round_robin, out);
  } else {
    KeyOf("pod", d.pod->meta, out);
    Text(d.outcome == Decision::Outcome::kUnfit ? "unfit" : "error", d.error != nullptr ? *d.error : std::string_view(),
         out);
    Number("counter", static_cast<int64_t>(d.round_robin), out);
  }
  out->push_back('}');
}

void AppendPreemption(const PreemptionOutput& o, std::string* out) {
  const scheduler::Preemption& p = o.preemption;
  *out += "{\"out\":\"preemption\"";
  KeyOf("pod", o.pod->meta, out);
  TextUnlessEmpty("node", p.node.str(), out);
  if (!p.victims.empty()) PodNames("victims", p.victims, out);
  if (!p.nominated_to_clear.empty()) PodNames("clear", p.nominated_to_clear, out);
  TextUnlessEmpty("error", p.error, out);
  out->push_back('}');
}

std::string MessageOf(const RequestOutput& r) {
  if (r.message == MessageForm::kText) return r.words->text;
  return AssignedMessage(r.message == MessageForm::kAssigned ? r.pod->meta.name : r.pod->meta.Key(), r.node.str());
}

void AppendRequest(const RequestOutput& r, std::string* out) {
  using K = RequestOutput::Kind;
  *out += "{\"out\":\"";
  out->append(kRequestNames[static_cast<size_t>(r.kind)]);
  out->push_back('"');
  if (r.id != 0) Number("id", static_cast<int64_t>(r.id), out);
  if (r.pod != nullptr) KeyOf("pod", r.pod->meta, out);
  if (r.kind == K::kGet) Text("pod", r.words->name, out);
  switch (r.kind) {
    case K::kBind:
      Text("node", r.node.str(), out);
      if (r.flag) *out += ",\"extender\":true";
      break;
    case K::kCondition:
    case K::kMarkVictim:
      Key("condition", out);
      Condition(*r.condition, out);
      break;
    case K::kPatch:
      if (r.condition != nullptr) {
        Key("condition", out);
        Condition(*r.condition, out);
      }
      if (r.flag) Text("node", r.node.str(), out);
      break;
    case K::kNominate:
    case K::kGetNode:
      Text("node", r.node.str(), out);
      break;
    case K::kClaim:
      Text("claim", r.words->name, out);
      Text("node", r.words->text, out);
      break;
    case K::kVolume:
      Text("volume", r.words->name, out);
      Text("claim", r.words->text, out);
      if (r.flag) *out += ",\"annotate\":true";
      break;
    case K::kEvent:
      Text("reason", r.words != nullptr ? std::string_view(r.words->name) : "Scheduled", out);
      Text("message", MessageOf(r), out);
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
  Text("call", CallName(a.call), out);
  if (!a.error.empty()) {
    Text("error", a.error, out);
  } else if (a.call == ExtenderAnswer::Call::kFilter) {
    Array("nodes", a.nodes, out, [&](const std::string& n) { AppendJsonString(n, out); });
    const auto reason = [&](const auto& f) {
      out->push_back('[');
      AppendJsonString(f.first, out);
      out->push_back(',');
      AppendJsonString(f.second, out);
      out->push_back(']');
    };
    if (!a.failed.empty()) Array("failed", a.failed, out, reason);
    if (!a.unresolvable.empty()) Array("unresolvable", a.unresolvable, out, reason);
  } else if (a.call == ExtenderAnswer::Call::kPreempt) {
    Array("evictions", a.evictions, out, [&](const scheduler::Extender::AgreedEviction& e) {
      *out += "{\"node\":";
      AppendJsonString(e.node.str(), out);
      absl::StrAppend(out, ",\"violations\":", e.violations);
      Array("uids", e.uids, out, [&](const std::string& uid) { AppendJsonString(uid, out); });
      out->push_back('}');
    });
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
  Number("mends", h.mends, &s);
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
    // As a string, because the text of a Policy's file may contain line breaks.
    TextUnlessEmpty("policy", p.policy, &s);
    TextUnlessEmpty("configuration", p.configuration, &s);
    s.push_back('}');
  });
  Number("hardPodAffinitySymmetricWeight", c.hard_pod_affinity_symmetric_weight, &s);
  Number("initialBackoffMicros", absl::ToInt64Microseconds(c.initial_backoff), &s);
  Number("maxBackoffMicros", absl::ToInt64Microseconds(c.max_backoff), &s);
  Number("unschedulableLimitMicros", absl::ToInt64Microseconds(c.unschedulable_limit), &s);
  Number("maxRequestsInFlight", c.max_requests_in_flight, &s);
  if (c.ignore_unknown_fields) s += ",\"ignoreUnknownFields\":true";
  if (c.percentage) Number("percentageOfNodesToScore", *c.percentage, &s);
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

namespace {

void AppendOutput(const Event& e, std::string* out) {
  if (const auto* d = std::get_if<DecisionOutput>(&e.what)) {
    AppendDecision(*d, out);
  } else if (const auto* p = std::get_if<std::unique_ptr<PreemptionOutput>>(&e.what)) {
    AppendPreemption(**p, out);
  } else if (const auto* r = std::get_if<RequestOutput>(&e.what)) {
    AppendRequest(*r, out);
  }
}

}  // namespace

std::string OutputLine(const Event& e) {
  BERTH_REQUIRES(!e.IsInput() && !std::holds_alternative<std::unique_ptr<ExtenderAnswer>>(e.what));
  std::string s;
  AppendOutput(e, &s);
  return s;
}

std::vector<std::string> OutputLinesOf(const Event& input) {
  std::vector<std::string> lines;
  if (const auto* s = std::get_if<ScheduleInput>(&input.what); s != nullptr && s->pod != nullptr) {
    AppendDecision(DecisionOutput(*s), &lines.emplace_back());
    if (s->bind != 0) lines.push_back(BindLine(static_cast<int64_t>(s->bind), s->pod->meta.Key(), s->node.str()));
  } else if (const auto* r = std::get_if<ReplyInput>(&input.what); r != nullptr && r->assigned().pod != nullptr) {
    const ReplyInput::Assigned& a = r->assigned();
    lines.push_back(AssignedLine(a.pod->meta.Key(), a.node.str(), a.form == MessageForm::kAssignedByKey));
  }
  return lines;
}

std::string DecisionLine(std::string_view pod, std::string_view node, int64_t feasible, int64_t ties, int64_t counter) {
  std::string s = "{\"out\":\"decision\"";
  Text("pod", pod, &s);
  Text("node", node, &s);
  Number("fit", feasible, &s);
  Number("ties", ties, &s);
  Number("counter", counter, &s);
  s.push_back('}');
  return s;
}

std::string AssignedMessage(std::string_view pod, std::string_view node) {
  std::string s = "Successfully assigned ";
  s.append(pod).append(" to ").append(node);
  return s;
}

std::string AssignedLine(std::string_view pod, std::string_view node, bool by_key) {
  std::string s = "{\"out\":\"event\"";
  Text("pod", pod, &s);
  Text("reason", "Scheduled", &s);
  Text("message", AssignedMessage(by_key ? pod : pod.substr(pod.find('/') + 1), node), &s);
  s.push_back('}');
  return s;
}

std::string BindLine(int64_t id, std::string_view pod, std::string_view node) {
  std::string s = "{\"out\":\"bind\"";
  Number("id", id, &s);
  Text("pod", pod, &s);
  Text("node", node, &s);
  s.push_back('}');
  return s;
}

// ---- lines --------------------------------------------------------------------------------------

void LineWriter::BeginSegment() {
  templates_.clear();
  templates_swept_at_ = kLeastTemplates;
  known_template_ = nullptr;
  last_template_ = 0;
  last_steady_ = 0;
  decided_pod_.reset();
  first_bind_ = 0;
}

// Every Job makes a template of its own, and a segment may cover millions of them. A template that nobody has any more
// is forgotten; should it come again, it gets a new line and a new number. The writer refers to templates weakly,
// because the cache drops a template only when nobody else has it, and each would wait for the other.
void LineWriter::ForgetUnusedTemplates() {
  absl::erase_if(templates_, [](const auto& entry) { return entry.second.owner.expired(); });
  templates_swept_at_ = std::max(kLeastTemplates, 2 * templates_.size());
}

int64_t LineWriter::TemplateId(const std::shared_ptr<const api::PodTemplate>& t, std::string* out) {
  // Consecutive pods often have the same template.
  if (t == known_template_) return known_template_id_;
  if (templates_.size() >= templates_swept_at_) ForgetUnusedTemplates();
  Known& known = templates_[t.get()];
  known_template_ = t;
  // The address may have belonged to another template before.
  if (!known.owner.owner_before(t) && !t.owner_before(known.owner)) return known_template_id_ = known.id;
  const auto fields = api::TemplateFields(t);
  if (fields == nullptr) ++unknown_;
  known = {t, known_template_id_ = ++last_template_};
  absl::StrAppend(out, "{\"template\":", known.id, ",\"pod\":", fields != nullptr ? *fields : std::string("{}"), "}\n");
  return known.id;
}

// Appends what differs between pods of one template. `known` is the same pod as last shown, or null; its members that
// never change are not repeated. REQUIRES: TemplateId was called for its template.
void LineWriter::AppendPod(const api::Pod& pod, const api::Pod* known, std::string* out) {
  out->push_back('{');
  const bool same = known != nullptr && known->tmpl == pod.tmpl && known->meta.uid == pod.meta.uid &&
                    known->meta.name == pod.meta.name && known->meta.creation_seconds == pod.meta.creation_seconds;
  if (same) {
    KeyOf("key", pod.meta, out);
  } else {
    Text("name", pod.meta.name, out);
    TextUnlessEmpty("uid", pod.meta.uid, out);
  }
  TextUnlessEmpty("rv", pod.meta.resource_version, out);
  if (!same && pod.meta.creation_seconds != 0) Number("created", pod.meta.creation_seconds, out);
  if (pod.meta.deletion_seconds) Number("deleted", *pod.meta.deletion_seconds, out);
  TextUnlessEmpty("node", pod.node_name.str(), out);
  TextUnlessEmpty("nominated", pod.nominated_node_name.str(), out);
  if (pod.phase != api::PodPhase::kPending) Text("phase", PhaseName(pod.phase), out);
  // The scheduler does not read the condition of a pod that has a node.
  if (pod.scheduled && pod.node_name.empty()) {
    Key("scheduled", out);
    Condition(*pod.scheduled, out);
  }
  if (pod.start_seconds) Number("started", *pod.start_seconds, out);
  if (pod.preempted_by_scheduler) *out += ",\"preempted\":true";
  if (!same) Number("of", TemplateId(pod.tmpl, nullptr), out);
  out->push_back('}');
}

template <typename T>
void LineWriter::AppendObject(const T& object, const T* known, std::string* out) {
  if constexpr (std::is_same_v<T, api::Pod>) {
    AppendPod(object, known, out);
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
    // Steady times are relative to the previous reading, so that most of them have one or two digits.
    int64_t last = std::exchange(last_steady_, e.steady.back());
    Key("t", out);
    if (e.steady.size() == 1) {
      AppendNumber(e.steady[0] - last, out);
    } else {
      char separator = '[';
      for (int64_t t : e.steady) {
        out->push_back(separator);
        AppendNumber(t - last, out);
        last = t;
        separator = ',';
      }
      out->push_back(']');
    }
  }
  if (!e.wall.empty()) {
    Array("wall", e.wall, out, [&](int64_t s) { AppendNumber(s, out); });
  }
}

// Appends what the object is now, or which object is gone. What it was before is the object shown last, unless "was"
// says otherwise.
template <typename T>
void LineWriter::AppendChange(const scheduler::Change<T>& c, std::string* out) {
  const api::ObjectMeta& meta = (c.after != nullptr ? c.after : c.before)->meta;
  const std::shared_ptr<const T>* const found = state_.Of<T>().Find(meta.ns, meta.name);
  const T* const known = found == nullptr ? nullptr : found->get();
  bool as_known = c.before.get() == known;
  if constexpr (std::is_same_v<T, api::Pod>) {
    as_known = as_known || (c.before != nullptr && known != nullptr && SameForScheduling(*c.before, *known));
  } else if constexpr (std::is_same_v<T, api::Node>) {
    as_known = as_known || (c.before != nullptr && known != nullptr && c.before->SchedulesLike(*known));
  } else {
    // For other kinds only the names of their earlier states are read.
    as_known = as_known || (c.before != nullptr && known != nullptr);
  }
  if (c.after != nullptr) {
    Key("is", out);
    AppendObject(*c.after, known, out);
  } else if (as_known) {
    KeyOf("gone", meta, out);
  }
  if (as_known) return;
  Key("was", out);
  if (c.before == nullptr) {
    *out += "null";
  } else {
    AppendObject<T>(*c.before, nullptr, out);
  }
}

void LineWriter::AppendInput(const Event& e, std::string* out) {
  if (const auto* any = std::get_if<AnyChange>(&e.what)) {
    if (const auto* pods = std::get_if<scheduler::Change<api::Pod>>(any)) {
      for (const auto* p : {pods->before.get(), pods->after.get()}) {
        if (p != nullptr) TemplateId(p->tmpl, out);
      }
    }
    *out += "{\"in\":\"";
    out->append(KindName(any->index()));
    out->push_back('"');
    AppendTimes(e, out);
    std::visit([&](const auto& c) { AppendChange(c, out); }, *any);
  } else if (const auto* reply = std::get_if<ReplyInput>(&e.what)) {
    if (const api::PodPtr pod = reply->reply().pod) TemplateId(pod->tmpl, out);
    *out += "{\"in\":\"reply\"";
    AppendTimes(e, out);
    AppendReply(*reply, out);
  } else if (const auto* schedule = std::get_if<ScheduleInput>(&e.what)) {
    *out += "{\"in\":\"schedule\"";
    AppendTimes(e, out);
    if (schedule->pod != nullptr) AppendSchedule(*schedule, out);
  } else {
    *out += std::holds_alternative<TickInput>(e.what) ? "{\"in\":\"tick\"" : "{\"in\":\"stop\"";
    AppendTimes(e, out);
  }
  out->push_back('}');
}

bool LineWriter::IsKnownBind(scheduler::RequestId id, const ReplyInput::Assigned& assigned) const {
  return first_bind_ != 0 && id >= first_bind_ && state_.IsOpenBind(id, assigned.pod->meta.uid, assigned.node);
}

void LineWriter::AppendReply(const ReplyInput& input, std::string* out) {
  Number("id", static_cast<int64_t>(input.id()), out);
  const scheduler::Reply r = input.reply();
  if (!r.answer.ok()) {
    Text("answer", AnswerName(r.answer.kind), out);
    TextUnlessEmpty("message", r.answer.message, out);
    TextUnlessEmpty("details", r.answer.details_kind, out);
  }
  if (r.pod != nullptr) {
    Key("pod", out);
    AppendPod(*r.pod, nullptr, out);
  }
  const ReplyInput::Assigned& a = input.assigned();
  if (a.pod == nullptr) return;
  const bool by_key = a.form == MessageForm::kAssignedByKey;
  if (IsKnownBind(input.id(), a)) {
    Text("assigned", by_key ? "key" : "name", out);
  } else {
    *out += "}\n";
    AppendAssigned(a.pod->meta, a.node, by_key, out);
  }
}

void LineWriter::AppendSchedule(const ScheduleInput& s, std::string* out) {
  AppendPlacement(s.pod->meta, s.node, s.feasible, s.ties, s.round_robin, out);
  if (s.bind == 0) return;
  Number("bind", static_cast<int64_t>(s.bind), out);
}

// Appends short forms of the bind of the pod that was decided last to the chosen node, and of the event of an assigned
// pod. There is one of each for nearly every pod, and a few members are enough.
bool LineWriter::AppendShort(const RequestOutput& r, std::string* out) {
  using K = RequestOutput::Kind;
  if (r.kind == K::kBind && !r.flag && decided_pod_ != nullptr && r.node == decided_node_ &&
      r.pod->meta.name == decided_pod_->meta.name && r.pod->meta.ns == decided_pod_->meta.ns) {
    *out += "{\"out\":\"bind\"";
    Number("id", static_cast<int64_t>(r.id), out);
  } else if (r.kind == K::kEvent && r.message != MessageForm::kText) {
    AppendAssigned(r.pod->meta, r.node, r.message == MessageForm::kAssignedByKey, out);
  } else {
    return false;
  }
  out->push_back('}');
  return true;
}

void LineWriter::Append(Event* event, std::string* out) {
  const Event& e = *event;
  const auto* request = std::get_if<RequestOutput>(&e.what);
  if (e.IsInput()) {
    AppendInput(e, out);
  } else if (const auto* a = std::get_if<std::unique_ptr<ExtenderAnswer>>(&e.what)) {
    AppendExtenderAnswer(**a, out);
  } else if (request == nullptr || !AppendShort(*request, out)) {
    AppendOutput(e, out);
  }
  out->push_back('\n');
  scheduler::RequestId bind = 0;
  if (const auto* d = std::get_if<DecisionOutput>(&e.what)) {
    decided_pod_ = d->outcome == Decision::Outcome::kPlaced ? d->pod : nullptr;
    decided_node_ = d->host;
  } else if (const auto* s = std::get_if<ScheduleInput>(&e.what); s != nullptr && s->pod != nullptr) {
    // A second bind of the pod would be written in full.
    decided_pod_ = s->bind == 0 ? s->pod : nullptr;
    decided_node_ = s->node;
    bind = s->bind;
  } else if (request != nullptr && request->kind == RequestOutput::Kind::kBind) {
    bind = request->id;
  }
  if (first_bind_ == 0) first_bind_ = bind;
  Note(event);
}

void LineWriter::Note(Event* e) {
  if (e->IsInput()) {
    refused_.clear();
    evicting_.clear();
  }
  if (auto* any = std::get_if<AnyChange>(&e->what)) {
    state_.Note(std::move(*any));
  } else if (const auto* r = std::get_if<ReplyInput>(&e->what)) {
    InFlight::Meaning meaning = state_.Answered(r->reply());
    refused_ = std::move(meaning.read);
    evicting_ = std::move(meaning.evicting);
  } else if (const auto* s = std::get_if<ScheduleInput>(&e->what)) {
    if (s->pod == nullptr) return;
    if (s->bind == 0) {
      state_.Drop(s->pod->meta.uid);
    } else {
      state_.Binds(s->bind, s->pod->meta.uid, s->node);
    }
    state_.round_robin[s->pod->tmpl->scheduler_name] = s->round_robin;
  } else if (const auto* d = std::get_if<DecisionOutput>(&e->what)) {
    state_.Drop(d->pod->meta.uid);
    state_.round_robin[d->pod->tmpl->scheduler_name] = d->round_robin;
    if (d->outcome == Decision::Outcome::kUnfit) refused_ = d->pod->meta.uid;
  } else if (const auto* q = std::get_if<RequestOutput>(&e->what)) {
    NoteRequest(*q);
  }
}

void LineWriter::NoteRequest(const RequestOutput& q) {
  using K = RequestOutput::Kind;
  if (q.kind == K::kBind) {
    state_.Binds(q.id, q.pod->meta.uid, q.node);
  } else if (q.kind == K::kGet) {
    state_.Reads(q.id, q.words->text);
  } else if (q.kind == K::kNominate || (q.kind == K::kPatch && q.flag)) {
    state_.Nominates(q.id, q.pod->meta.uid, q.node.string());
  } else if (q.kind == K::kMarkVictim || q.kind == K::kDelete) {
    if (!refused_.empty()) state_.Prepares(refused_, q.pod->node_name.str());
    const std::string& uid = refused_.empty() ? evicting_ : refused_;
    if (!uid.empty()) q.kind == K::kMarkVictim ? state_.Marks(q.id, uid) : state_.Deletes(q.id, uid);
  } else if (q.kind == K::kEvent && q.words != nullptr && q.words->name == "FailedScheduling") {
    state_.Drop(q.pod->meta.uid);
  }
}

void LineWriter::Checkpoint(std::string* out, const std::function<void()>& empty) {
  state_.ForEach([&](size_t kind, const auto& object) {
    using T = std::remove_const_t<typename std::decay_t<decltype(object)>::element_type>;
    if constexpr (std::is_same_v<T, api::Pod>) TemplateId(object->tmpl, out);
    absl::StrAppend(out, "{\"object\":\"", std::string(KindName(kind)), "\",\"is\":");
    AppendObject<T>(*object, nullptr, out);
    *out += "}\n";
    if (out->size() >= kPieceBytes) empty();
  });
  std::string state = "{\"state\":{";
  const auto name_of = [](const auto& k) -> std::string {
    if constexpr (requires { k.string(); }) {
      return k.string();
    } else {
      return k;
    }
  };
  // Entries are in the order of their keys, so that equal states give equal lines.
  const auto map = [&](std::string_view key, const auto& entries, auto append) {
    std::vector<std::pair<std::string, decltype(&entries.begin()->second)>> sorted;
    for (const auto& [k, v] : entries) sorted.emplace_back(name_of(k), &v);
    std::sort(sorted.begin(), sorted.end());
    Key(key, &state);
    state.push_back('{');
    for (const auto& [k, v] : sorted) {
      if (state.back() != '{') state.push_back(',');
      AppendJsonString(k, &state);
      state.push_back(':');
      append(*v);
    }
    state.push_back('}');
  };
  map("assumed", state_.assumed, [&](const auto& a) { AppendJsonString(a.node.str(), &state); });
  map("nominated", state_.nominated, [&](const auto& n) {
    state.push_back('[');
    AppendJsonString(n.first, &state);
    state.push_back(',');
    AppendJsonString(n.second, &state);
    state.push_back(']');
  });
  map("counters", state_.round_robin, [&](uint64_t n) { absl::StrAppend(&state, n); });
  const auto requests = [&](std::string_view key, const auto& open) {
    std::map<scheduler::RequestId, std::string> sorted(open.begin(), open.end());
    Array(key, sorted, &state, [&](const auto& b) {
      absl::StrAppend(&state, "[", b.first, ",");
      AppendJsonString(b.second, &state);
      state.push_back(']');
    });
  };
  requests("openBinds", state_.open_binds);
  requests("openGets", state_.open_gets);
  requests("openNominations", state_.open_nominations);
  requests("openMarks", state_.open_marks);
  requests("openDeletions", state_.open_deletions);
  std::set<std::string> bound;
  for (const auto& [uid, a] : state_.assumed) {
    if (a.bound) bound.insert(uid);
  }
  const auto text = [&](const std::string& uid) { AppendJsonString(uid, &state); };
  Array("bound", bound, &state, text);
  if (!state_.once_nominated.empty()) Array("onceNominated", state_.once_nominated, &state, text);
  *out += state + "}}\n{\"checkpoint\":\"end\"}\n";
}

}  // namespace berth::recording
