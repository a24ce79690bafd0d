// Writes lines. Invariant: what a line leaves out because an earlier line of the segment has it is in `state_`, and a
// reader of the segment can restore it from the same state.
#include "pkg/recording/format.h"

#include <algorithm>
#include <array>
#include <set>

#include "pkg/api/scheduling_fields.h"
#include "pkg/util/status.h"

namespace berth::recording {
namespace {

using api::JsonText;
using api::JsonWriter;
using scheduler::Answer;
using scheduler::Decision;

constexpr std::array<std::string_view, 11> kRequestNames = {
    "bind", "condition", "nominate", "delete", "get", "getNode", "volume", "event", "patch", "markVictim", "claim"};

void WriteCondition(JsonText key, const api::PodCondition& c, JsonWriter* j) {
  j->Key(key).Object().Member("status", c.status).MemberUnlessEmpty("reason", c.reason);
  j->MemberUnlessEmpty("message", c.message).MemberUnlessEmpty("lastProbeTime", c.last_probe_time);
  j->MemberUnlessEmpty("lastTransitionTime", c.last_transition_time).End();
}

void PodNames(JsonText key, const std::vector<api::PodPtr>& pods, JsonWriter* j) {
  j->Key(key).Each(pods, [&](const api::PodPtr& p) { j->Name(p->meta.ns.str(), p->meta.name); });
}

std::string_view PhaseName(api::PodPhase p) {
  static constexpr std::array<std::string_view, 5> kNames = {"Pending", "Running", "Succeeded", "Failed", "Unknown"};
  return kNames[static_cast<size_t>(p)];
}

// Writes the members of a decision for a node.
void WritePlacement(const api::ObjectMeta& pod, util::Symbol node, size_t feasible, size_t ties, uint64_t counter,
                    JsonWriter* j) {
  j->Key("pod").Name(pod.ns.str(), pod.name).Member("node", node.str());
  j->Member("fit", feasible).Member("ties", ties).Member("counter", counter);
}

// Writes the short form of the event that a pod was assigned.
void WriteAssigned(const api::ObjectMeta& pod, util::Symbol node, bool by_key, JsonWriter* j) {
  j->Object().Member("out", by_key ? JsonText("assignedByKey") : JsonText("assigned"));
  j->Key("pod").Name(pod.ns.str(), pod.name).Member("node", node.str()).End();
}

void WriteDecision(const DecisionOutput& d, JsonWriter* j) {
  j->Object().Member("out", "decision");
  const api::ObjectMeta& pod = d.pod->meta;
  if (d.outcome == Decision::Outcome::kPlaced) {
    WritePlacement(pod, d.host, d.feasible, d.ties, d.round_robin, j);
  } else {
    const JsonText why = d.outcome == Decision::Outcome::kUnfit ? JsonText("unfit") : JsonText("error");
    j->Key("pod").Name(pod.ns.str(), pod.name).Member(why, d.error != nullptr ? *d.error : std::string_view());
    j->Member("counter", d.round_robin);
  }
  j->End();
}

void WritePreemption(const PreemptionOutput& o, JsonWriter* j) {
  const scheduler::Preemption& p = o.preemption;
  j->Object().Member("out", "preemption").Key("pod").Name(o.pod->meta.ns.str(), o.pod->meta.name);
  j->MemberUnlessEmpty("node", p.node.str());
  if (!p.victims.empty()) PodNames("victims", p.victims, j);
  if (!p.nominated_to_clear.empty()) PodNames("clear", p.nominated_to_clear, j);
  j->MemberUnlessEmpty("error", p.error).End();
}

std::string MessageOf(const RequestOutput& r) {
  if (r.message == MessageForm::kText) return r.words->text;
  return AssignedMessage(r.message == MessageForm::kAssigned ? r.pod->meta.name : r.pod->meta.Key(), r.node.str());
}

void WriteRequest(const RequestOutput& r, JsonWriter* j) {
  using K = RequestOutput::Kind;
  j->Object().Member("out", kRequestNames[static_cast<size_t>(r.kind)]);
  if (r.id != 0) j->Member("id", r.id);
  if (r.pod != nullptr) j->Key("pod").Name(r.pod->meta.ns.str(), r.pod->meta.name);
  if (r.kind == K::kGet) j->Member("pod", r.words->name);
  switch (r.kind) {
    case K::kBind:
      j->Member("node", r.node.str());
      if (r.flag) j->Member("extender", true);
      break;
    case K::kCondition:
    case K::kMarkVictim:
      WriteCondition("condition", *r.condition, j);
      break;
    case K::kPatch:
      if (r.condition != nullptr) WriteCondition("condition", *r.condition, j);
      if (r.flag) j->Member("node", r.node.str());
      break;
    case K::kNominate:
    case K::kGetNode:
      j->Member("node", r.node.str());
      break;
    case K::kClaim:
      j->Member("claim", r.words->name).Member("node", r.words->text);
      break;
    case K::kVolume:
      j->Member("volume", r.words->name).Member("claim", r.words->text);
      if (r.flag) j->Member("annotate", true);
      break;
    case K::kEvent:
      j->Member("reason", r.words != nullptr ? std::string_view(r.words->name) : "Scheduled");
      j->Member("message", MessageOf(r));
      if (r.flag) j->Member("warning", true);
      break;
    case K::kDelete:
    case K::kGet:
      break;
  }
  j->End();
}

void WriteExtenderAnswer(const ExtenderAnswer& a, JsonWriter* j) {
  j->Object().Member("in", "extender").Member("extender", a.extender).Member("call", CallName(a.call));
  if (!a.error.empty()) {
    j->Member("error", a.error);
  } else if (a.call == ExtenderAnswer::Call::kFilter) {
    j->Key("nodes").Texts(a.nodes);
    const auto reason = [&](const auto& f) { j->Array().Text(f.first).Text(f.second).End(); };
    if (!a.failed.empty()) j->Key("failed").Each(a.failed, reason);
    if (!a.unresolvable.empty()) j->Key("unresolvable").Each(a.unresolvable, reason);
  } else if (a.call == ExtenderAnswer::Call::kPreempt) {
    j->Key("evictions").Each(a.evictions, [&](const scheduler::Extender::AgreedEviction& e) {
      j->Object().Member("node", e.node.str()).Member("violations", e.violations).Key("uids").Texts(e.uids).End();
    });
  } else {
    j->Key("scores").Each(a.scores, [&](const auto& s) { j->Array().Text(s.first).Number(s.second).End(); });
  }
  j->End();
}

}  // namespace

bool SameForScheduling(const api::Pod& a, const api::Pod& b) {
  return a.meta.uid == b.meta.uid && a.meta.name == b.meta.name && a.tmpl == b.tmpl && a.node_name == b.node_name &&
         a.Finished() == b.Finished() && a.meta.deletion_seconds == b.meta.deletion_seconds &&
         a.nominated_node_name == b.nominated_node_name;
}

// ---- the header ---------------------------------------------------------------------------------

std::string HeaderLine(const Header& h) {
  JsonWriter j;
  j.Object().Key("recording").Object().Member("format", h.format).Member("version", h.version);
  // Readers of older versions know the corrections by this name.
  j.Member("mends", h.corrections).Member("run", h.run).Member("segment", h.segment);
  const absl::Time time = absl::FromUnixSeconds(h.wall_seconds);
  j.Member("time", absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone()));
  if (h.after_gap) j.Member("afterGap", true);
  const CoreConfiguration& c = h.configuration;
  j.Member("release", c.release).Key("gates").Object();
  for (const auto& [gate, on] : c.gates) j.Member(gate, on);
  j.End().Key("profiles").Each(c.profiles, [&](const ProfileSource& p) {
    j.Object().Member("schedulerName", p.scheduler_name).MemberUnlessEmpty("provider", p.provider);
    // As a string, because the text of a Policy's file may contain line breaks.
    j.MemberUnlessEmpty("policy", p.policy).MemberUnlessEmpty("configuration", p.configuration).End();
  });
  j.Member("hardPodAffinitySymmetricWeight", c.hard_pod_affinity_symmetric_weight);
  j.Member("initialBackoffMicros", absl::ToInt64Microseconds(c.initial_backoff));
  j.Member("maxBackoffMicros", absl::ToInt64Microseconds(c.max_backoff));
  j.Member("unschedulableLimitMicros", absl::ToInt64Microseconds(c.unschedulable_limit));
  j.Member("maxRequestsInFlight", c.max_requests_in_flight);
  if (c.ignore_unknown_fields) j.Member("ignoreUnknownFields", true);
  if (c.percentage) j.Member("percentageOfNodesToScore", *c.percentage);
  if (!h.flags.empty()) {
    j.Key("flags").Object();
    for (const auto& [flag, value] : h.flags) j.Member(flag, value);
    j.End();
  }
  return j.End().End().Take();
}

namespace {

void WriteOutput(const Event& e, JsonWriter* j) {
  if (const auto* d = std::get_if<DecisionOutput>(&e.what)) {
    WriteDecision(*d, j);
  } else if (const auto* p = std::get_if<std::unique_ptr<PreemptionOutput>>(&e.what)) {
    WritePreemption(**p, j);
  } else if (const auto* r = std::get_if<RequestOutput>(&e.what)) {
    WriteRequest(*r, j);
  }
}

}  // namespace

std::string OutputLine(const Event& e) {
  BERTH_REQUIRES(!e.IsInput() && !std::holds_alternative<std::unique_ptr<ExtenderAnswer>>(e.what));
  JsonWriter j;
  WriteOutput(e, &j);
  return j.Take();
}

std::vector<std::string> OutputLinesOf(const Event& input) {
  std::vector<std::string> lines;
  if (const auto* s = std::get_if<ScheduleInput>(&input.what); s != nullptr && s->pod != nullptr) {
    JsonWriter j(&lines.emplace_back());
    WriteDecision(DecisionOutput(*s), &j);
    if (s->bind != 0) lines.push_back(BindLine(static_cast<int64_t>(s->bind), s->pod->meta.Key(), s->node.str()));
  } else if (const auto* r = std::get_if<ReplyInput>(&input.what); r != nullptr && r->assigned().pod != nullptr) {
    const ReplyInput::Assigned& a = r->assigned();
    lines.push_back(AssignedLine(a.pod->meta.Key(), a.node.str(), a.form == MessageForm::kAssignedByKey));
  }
  return lines;
}

std::string DecisionLine(std::string_view pod, std::string_view node, int64_t feasible, int64_t ties, int64_t counter) {
  JsonWriter j;
  j.Object().Member("out", "decision").Member("pod", pod).Member("node", node);
  return j.Member("fit", feasible).Member("ties", ties).Member("counter", counter).End().Take();
}

std::string AssignedMessage(std::string_view pod, std::string_view node) {
  std::string s = "Successfully assigned ";
  s.append(pod).append(" to ").append(node);
  return s;
}

std::string AssignedLine(std::string_view pod, std::string_view node, bool by_key) {
  JsonWriter j;
  j.Object().Member("out", "event").Member("pod", pod).Member("reason", "Scheduled");
  return j.Member("message", AssignedMessage(by_key ? pod : pod.substr(pod.find('/') + 1), node)).End().Take();
}

std::string BindLine(int64_t id, std::string_view pod, std::string_view node) {
  return JsonWriter()
      .Object()
      .Member("out", "bind")
      .Member("id", id)
      .Member("pod", pod)
      .Member("node", node)
      .End()
      .Take();
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

int64_t LineWriter::TemplateId(const std::shared_ptr<const api::PodTemplate>& t, JsonWriter* j) {
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
  j->Object().Member("template", known.id).Key("pod").Literal(fields != nullptr ? std::string_view(*fields) : "{}");
  j->End().EndLine();
  return known.id;
}

// Writes what differs between pods of one template. `known` is the same pod as last shown, or null; its members that
// never change are not repeated. REQUIRES: TemplateId was called for its template.
void LineWriter::WritePod(const api::Pod& pod, const api::Pod* known, JsonWriter* j) {
  j->Object();
  const bool same = known != nullptr && known->tmpl == pod.tmpl && known->meta.uid == pod.meta.uid &&
                    known->meta.name == pod.meta.name && known->meta.creation_seconds == pod.meta.creation_seconds;
  if (same) {
    j->Key("key").Name(pod.meta.ns.str(), pod.meta.name);
  } else {
    j->Member("name", pod.meta.name).MemberUnlessEmpty("uid", pod.meta.uid);
  }
  j->MemberUnlessEmpty("rv", pod.meta.resource_version);
  if (!same && pod.meta.creation_seconds != 0) j->Member("created", pod.meta.creation_seconds);
  if (pod.meta.deletion_seconds) j->Member("deleted", *pod.meta.deletion_seconds);
  j->MemberUnlessEmpty("node", pod.node_name.str()).MemberUnlessEmpty("nominated", pod.nominated_node_name.str());
  if (pod.phase != api::PodPhase::kPending) j->Member("phase", PhaseName(pod.phase));
  // The scheduler does not read the condition of a pod that has a node.
  if (pod.scheduled && pod.node_name.empty()) WriteCondition("scheduled", *pod.scheduled, j);
  if (pod.start_seconds) j->Member("started", *pod.start_seconds);
  if (pod.preempted_by_scheduler) j->Member("preempted", true);
  if (!same) j->Member("of", TemplateId(pod.tmpl, nullptr));
  j->End();
}

template <typename T>
void LineWriter::WriteObject(const T& object, const T* known, JsonWriter* j) {
  if constexpr (std::is_same_v<T, api::Pod>) {
    WritePod(object, known, j);
  } else if (object.meta.fields != nullptr) {
    j->Literal(*object.meta.fields);
  } else {
    ++unknown_;
    j->Object().Key("metadata").Object().MemberUnlessEmpty("namespace", object.meta.ns.str());
    j->Member("name", object.meta.name).End().End();
  }
}

void LineWriter::WriteTimes(const Event& e, JsonWriter* j) {
  if (!e.steady.empty()) {
    // Steady times are relative to the previous reading, so that most of them have one or two digits.
    int64_t last = std::exchange(last_steady_, e.steady.back());
    if (e.steady.size() == 1) {
      j->Member("t", e.steady[0] - last);
    } else {
      j->Key("t").Each(e.steady, [&](int64_t t) { j->Number(t - std::exchange(last, t)); });
    }
  }
  if (!e.wall.empty()) j->Key("wall").Each(e.wall, [&](int64_t s) { j->Number(s); });
}

// Writes what the object is now, or which object is gone. What it was before is the object shown last, unless "was"
// says otherwise.
template <typename T>
void LineWriter::WriteChange(const scheduler::Change<T>& c, JsonWriter* j) {
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
    j->Key("is");
    WriteObject(*c.after, known, j);
  } else if (as_known) {
    j->Key("gone").Name(meta.ns.str(), meta.name);
  }
  if (as_known) return;
  j->Key("was");
  c.before == nullptr ? (void)j->Literal("null") : WriteObject<T>(*c.before, nullptr, j);
}

void LineWriter::WriteInput(const Event& e, JsonWriter* j) {
  if (const auto* any = std::get_if<AnyChange>(&e.what)) {
    if (const auto* pods = std::get_if<scheduler::Change<api::Pod>>(any)) {
      for (const auto* p : {pods->before.get(), pods->after.get()}) {
        if (p != nullptr) TemplateId(p->tmpl, j);
      }
    }
    j->Object().Member("in", KindName(any->index()));
    WriteTimes(e, j);
    std::visit([&](const auto& c) { WriteChange(c, j); }, *any);
  } else if (const auto* reply = std::get_if<ReplyInput>(&e.what)) {
    if (const api::PodPtr pod = reply->reply().pod) TemplateId(pod->tmpl, j);
    j->Object().Member("in", "reply");
    WriteTimes(e, j);
    return WriteReply(*reply, j);
  } else if (const auto* schedule = std::get_if<ScheduleInput>(&e.what)) {
    j->Object().Member("in", "schedule");
    WriteTimes(e, j);
    if (const ScheduleInput& s = *schedule; s.pod != nullptr) {
      WritePlacement(s.pod->meta, s.node, s.feasible, s.ties, s.round_robin, j);
      if (s.bind != 0) j->Member("bind", s.bind);
    }
  } else {
    j->Object().Member("in", std::holds_alternative<TickInput>(e.what) ? JsonText("tick") : JsonText("stop"));
    WriteTimes(e, j);
  }
  j->End();
}

bool LineWriter::IsKnownBind(scheduler::RequestId id, const ReplyInput::Assigned& assigned) const {
  return first_bind_ != 0 && id >= first_bind_ && state_.IsOpenBind(id, assigned.pod->meta.uid, assigned.node);
}

// Writes the rest of a reply's line, and perhaps one after it.
void LineWriter::WriteReply(const ReplyInput& input, JsonWriter* j) {
  j->Member("id", input.id());
  const scheduler::Reply r = input.reply();
  if (!r.answer.ok()) {
    j->Member("answer", AnswerName(r.answer.kind)).MemberUnlessEmpty("message", r.answer.message);
    j->MemberUnlessEmpty("details", r.answer.details_kind);
  }
  if (r.pod != nullptr) {
    j->Key("pod");
    WritePod(*r.pod, nullptr, j);
  }
  const ReplyInput::Assigned& a = input.assigned();
  const bool by_key = a.form == MessageForm::kAssignedByKey, known = a.pod != nullptr && IsKnownBind(input.id(), a);
  if (known) j->Member("assigned", by_key ? "key" : "name");
  j->End();
  if (a.pod == nullptr || known) return;
  j->EndLine();
  WriteAssigned(a.pod->meta, a.node, by_key, j);
}

// Writes short forms of the bind of the pod that was decided last to the chosen node, and of the event of an assigned
// pod. There is one of each for nearly every pod, and a few members are enough.
bool LineWriter::WriteShort(const RequestOutput& r, JsonWriter* j) {
  using K = RequestOutput::Kind;
  if (r.kind == K::kBind && !r.flag && decided_pod_ != nullptr && r.node == decided_node_ &&
      r.pod->meta.name == decided_pod_->meta.name && r.pod->meta.ns == decided_pod_->meta.ns) {
    j->Object().Member("out", "bind").Member("id", r.id).End();
  } else if (r.kind == K::kEvent && r.message != MessageForm::kText) {
    WriteAssigned(r.pod->meta, r.node, r.message == MessageForm::kAssignedByKey, j);
  } else {
    return false;
  }
  return true;
}

void LineWriter::Append(Event* event, std::string* out) {
  JsonWriter j(out);
  const Event& e = *event;
  const auto* request = std::get_if<RequestOutput>(&e.what);
  if (e.IsInput()) {
    WriteInput(e, &j);
  } else if (const auto* a = std::get_if<std::unique_ptr<ExtenderAnswer>>(&e.what)) {
    WriteExtenderAnswer(**a, &j);
  } else if (request == nullptr || !WriteShort(*request, &j)) {
    WriteOutput(e, &j);
  }
  j.EndLine();
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
  JsonWriter lines(out);
  state_.ForEach([&](size_t kind, const auto& object) {
    using T = std::remove_const_t<typename std::decay_t<decltype(object)>::element_type>;
    if constexpr (std::is_same_v<T, api::Pod>) TemplateId(object->tmpl, &lines);
    lines.Object().Member("object", KindName(kind)).Key("is");
    WriteObject<T>(*object, nullptr, &lines);
    lines.End().EndLine();
    if (out->size() >= kPieceBytes) empty();
  });
  JsonWriter j;
  j.Object().Key("state").Object();
  const auto name_of = [](const auto& k) -> std::string {
    if constexpr (requires { k.string(); }) {
      return k.string();
    } else {
      return k;
    }
  };
  // Entries are in the order of their keys, so that equal states give equal lines.
  const auto map = [&](JsonText key, const auto& entries, auto write) {
    std::vector<std::pair<std::string, decltype(&entries.begin()->second)>> sorted;
    for (const auto& [k, v] : entries) sorted.emplace_back(name_of(k), &v);
    std::sort(sorted.begin(), sorted.end());
    j.Key(key).Object();
    for (const auto& [k, v] : sorted) {
      j.Key(k);
      write(*v);
    }
    j.End();
  };
  map("assumed", state_.assumed, [&](const auto& a) { j.Text(a.node.str()); });
  map("nominated", state_.nominated, [&](const auto& n) { j.Array().Text(n.first).Text(n.second).End(); });
  map("counters", state_.round_robin, [&](uint64_t n) { j.Number(n); });
  const auto requests = [&](JsonText key, const auto& open) {
    std::map<scheduler::RequestId, std::string> sorted(open.begin(), open.end());
    j.Key(key).Each(sorted, [&](const auto& b) { j.Array().Number(b.first).Text(b.second).End(); });
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
  j.Key("bound").Texts(bound);
  if (!state_.once_nominated.empty()) j.Key("onceNominated").Texts(state_.once_nominated);
  lines.Literal(j.End().End().Take()).EndLine().Object().Member("checkpoint", "end").End().EndLine();
}

}  // namespace berth::recording
