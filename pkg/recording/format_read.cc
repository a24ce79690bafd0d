// Parses lines into events, the reverse of format.cc. Everything comes from a file that may be damaged, so each member
// is checked.
#include <absl/strings/str_cat.h>
#include <absl/time/time.h>

#include <algorithm>
#include <array>
#include <span>

#include "pkg/api/decode.h"
#include "pkg/recording/format.h"
#include "pkg/util/status.h"

namespace berth::recording {
namespace {

using api::Json;

std::string TextOf(Json j, std::string_view key) {
  const Json v = j.FindExact(key);
  return v.IsString() ? std::string(v.Text()) : std::string();
}
int64_t NumberOf(Json j, std::string_view key, int64_t otherwise) {
  const Json v = j.FindExact(key);
  return v.IsInt() ? v.Int() : otherwise;
}
bool IsTrue(Json j, std::string_view key) {
  const Json v = j.FindExact(key);
  return v.IsBool() && v.Bool();
}

absl::Status Bad(std::string_view member, std::string_view problem) {
  return util::InvalidArgument(absl::StrCat(std::string(member), ": ", std::string(problem)));
}

// What a member of a line may be. A file that was damaged or edited has others, which must not be passed over.
enum : uint8_t { kText = 1, kInt = 2, kBool = 4, kList = 8, kObject = 16 };
struct MemberKinds {
  std::string_view name;
  uint8_t kinds;
};
constexpr MemberKinds kHeaderMembers[] = {{"version", kText},
                                          {"mends", kInt},
                                          {"run", kText},
                                          {"segment", kInt},
                                          {"time", kText},
                                          {"afterGap", kBool},
                                          {"release", kText},
                                          {"gates", kObject},
                                          {"profiles", kList},
                                          {"hardPodAffinitySymmetricWeight", kInt},
                                          {"initialBackoffMicros", kInt},
                                          {"maxBackoffMicros", kInt},
                                          {"unschedulableLimitMicros", kInt},
                                          {"maxRequestsInFlight", kInt},
                                          {"ignoreUnknownFields", kBool},
                                          {"percentageOfNodesToScore", kInt},
                                          {"flags", kObject}};
constexpr MemberKinds kProfileMembers[] = {
    {"schedulerName", kText}, {"provider", kText}, {"policy", kText}, {"configuration", kText}};
constexpr MemberKinds kStateMembers[] = {{"assumed", kObject},    {"nominated", kObject},   {"counters", kObject},
                                         {"openBinds", kList},    {"openGets", kList},      {"openNominations", kList},
                                         {"openMarks", kList},    {"openDeletions", kList}, {"bound", kList},
                                         {"onceNominated", kList}};
constexpr MemberKinds kLineMembers[] = {
    {"id", kInt},      {"pod", kText | kObject}, {"node", kText},     {"fit", kInt},
    {"ties", kInt},    {"counter", kInt},        {"bind", kInt},      {"wall", kList},
    {"answer", kText}, {"message", kText},       {"details", kText},  {"gone", kText},
    {"is", kObject},   {"was", kObject},         {"extender", kText}, {"template", kInt},
    {"gap", kInt}};
constexpr MemberKinds kPodMembers[] = {
    {"key", kText},    {"name", kText},      {"uid", kText},        {"rv", kText},     {"node", kText},
    {"phase", kText},  {"of", kInt},         {"nominated", kText},  {"created", kInt}, {"deleted", kInt},
    {"started", kInt}, {"preempted", kBool}, {"scheduled", kObject}};

std::string KindsText(uint8_t kinds) {
  static constexpr std::pair<uint8_t, const char*> kNames[] = {
      {kText, "a string"}, {kInt, "an integer"}, {kBool, "true or false"}, {kList, "a list"}, {kObject, "an object"}};
  std::string out;
  for (const auto& [kind, name] : kNames) {
    if ((kinds & kind) != 0) absl::StrAppend(&out, out.empty() ? "" : " or ", name);
  }
  return out;
}

absl::Status CheckKind(Json value, uint8_t kinds, std::string_view at, std::string_view key) {
  const uint8_t is = value.IsString()   ? kText
                     : value.IsInt()    ? kInt
                     : value.IsBool()   ? kBool
                     : value.IsArray()  ? kList
                     : value.IsObject() ? kObject
                                        : 0;
  if ((kinds & is) != 0) return absl::OkStatus();
  return Bad(absl::StrCat(std::string(at), at.empty() || key.empty() ? "" : ".", std::string(key)),
             absl::StrCat("must be ", KindsText(kinds), ", not ", value.Brief()));
}

// Returns an error if a member of `j` is something else than it may be. A null stands for one that is absent.
absl::Status CheckKinds(Json j, std::span<const MemberKinds> known, std::string_view at) {
  for (auto [key, value] : j.Children()) {
    auto it = std::find_if(known.begin(), known.end(), [&](const MemberKinds& m) { return m.name == key; });
    if (it != known.end() && !value.IsNull()) BERTH_RETURN_IF_ERROR(CheckKind(value, it->kinds, at, key));
  }
  return absl::OkStatus();
}

// Returns an error if a value of an object or list is not of the kind.
absl::Status CheckValues(Json j, uint8_t kind, std::string_view at) {
  for (auto [key, value] : j.Children()) BERTH_RETURN_IF_ERROR(CheckKind(value, kind, at, key));
  return absl::OkStatus();
}

api::PodCondition ConditionOf(Json j) {
  return {TextOf(j, "status"), TextOf(j, "reason"), TextOf(j, "message"), TextOf(j, "lastProbeTime"),
          TextOf(j, "lastTransitionTime")};
}

std::optional<api::PodPhase> PhaseOf(std::string_view name) {
  using P = api::PodPhase;
  if (name.empty() || name == "Pending") return P::kPending;
  if (name == "Running") return P::kRunning;
  if (name == "Succeeded") return P::kSucceeded;
  if (name == "Failed") return P::kFailed;
  if (name == "Unknown") return P::kUnknown;
  return std::nullopt;
}

// Calls f with an empty change of the kind with this name. Returns false if there is no such kind.
template <size_t I = 0, typename F>
bool WithKind(std::string_view name, F f) {
  if constexpr (I == std::variant_size_v<AnyChange>) {
    return false;
  } else {
    if (KindName(I) == name) {
      f(std::variant_alternative_t<I, AnyChange>{});
      return true;
    }
    return WithKind<I + 1>(name, f);
  }
}

absl::Status ReadTimes(Json j, int64_t* last_steady, Event* out) {
  const Json t = j.FindExact("t");
  if (t.IsInt()) {
    out->steady = {* last_steady += t.Int()};
  } else if (t.IsArray()) {
    for (auto member : t.Children()) {
      if (!member.value.IsInt()) return Bad("t", "must be integers");
      out->steady.push_back(*last_steady += member.value.Int());
    }
  } else if (!t.IsNull()) {
    return Bad("t", "must be an integer or a list of integers");
  }
  BERTH_RETURN_IF_ERROR(CheckValues(j.FindExact("wall"), kInt, "wall"));
  for (auto member : j.FindExact("wall").Children()) out->wall.push_back(member.value.Int());
  return absl::OkStatus();
}

void ReadExtenderAnswer(Json j, ExtenderAnswer* a) {
  using Call = ExtenderAnswer::Call;
  const auto call = TextOf(j, "call");
  a->call = call == CallName(Call::kFilter)    ? Call::kFilter
            : call == CallName(Call::kPreempt) ? Call::kPreempt
                                               : Call::kPrioritize;
  a->extender = TextOf(j, "extender");
  a->error = TextOf(j, "error");
  for (auto m : j.FindExact("nodes").Children()) a->nodes.emplace_back(m.value.Text());
  const auto pair = [](Json v) {
    std::array<Json, 2> both;
    size_t i = 0;
    for (auto m : v.Children()) {
      if (i < 2) both[i++] = m.value;
    }
    return both;
  };
  for (auto* list : {&a->failed, &a->unresolvable}) {
    for (auto m : j.FindExact(list == &a->failed ? "failed" : "unresolvable").Children()) {
      const auto both = pair(m.value);
      list->emplace_back(both[0].Text(), both[1].Text());
    }
  }
  for (auto m : j.FindExact("evictions").Children()) {
    scheduler::Extender::AgreedEviction& e = a->evictions.emplace_back();
    e.node = util::Symbol(TextOf(m.value, "node"));
    e.violations = m.value.FindExact("violations").Int();
    for (auto uid : m.value.FindExact("uids").Children()) e.uids.emplace_back(uid.value.Text());
  }
  for (auto m : j.FindExact("scores").Children()) {
    const auto both = pair(m.value);
    a->scores.emplace_back(both[0].Text(), both[1].Int());
  }
}

absl::Status ReadState(Json j, ClusterState* out) {
  BERTH_RETURN_IF_ERROR(CheckKinds(j, kStateMembers, "state"));
  BERTH_RETURN_IF_ERROR(CheckValues(j.FindExact("assumed"), kText, "state.assumed"));
  BERTH_RETURN_IF_ERROR(CheckValues(j.FindExact("nominated"), kList, "state.nominated"));
  BERTH_RETURN_IF_ERROR(CheckValues(j.FindExact("bound"), kText, "state.bound"));
  BERTH_RETURN_IF_ERROR(CheckValues(j.FindExact("onceNominated"), kText, "state.onceNominated"));
  for (auto [uid, node] : j.FindExact("assumed").Children()) {
    out->assumed[std::string(uid)] = {util::SharedSymbol(node.Text()), false};
  }
  for (auto [uid, both] : j.FindExact("nominated").Children()) {
    auto& [node, version] = out->nominated[std::string(uid)];
    for (auto m : both.Children()) (node.empty() ? node : version) = std::string(m.value.Text());
  }
  for (auto [name, n] : j.FindExact("counters").Children()) {
    if (!n.IsInt()) return Bad("state.counters", "must be integers");
    out->round_robin[util::Symbol(name)] = static_cast<uint64_t>(n.Int());
  }
  const auto requests = [&](std::string_view key, absl::flat_hash_map<scheduler::RequestId, std::string>* open) {
    for (auto m : j.FindExact(key).Children()) {
      int64_t id = 0;
      for (auto e : m.value.Children()) {
        if (e.value.IsInt()) {
          id = e.value.Int();
        } else {
          (*open)[static_cast<scheduler::RequestId>(id)] = std::string(e.value.Text());
        }
      }
    }
  };
  requests("openBinds", &out->open_binds);
  requests("openGets", &out->open_gets);
  requests("openNominations", &out->open_nominations);
  requests("openMarks", &out->open_marks);
  requests("openDeletions", &out->open_deletions);
  for (auto m : j.FindExact("onceNominated").Children()) out->once_nominated.emplace(m.value.Text());
  for (auto m : j.FindExact("bound").Children()) {
    if (auto it = out->assumed.find(std::string(m.value.Text())); it != out->assumed.end()) it->second.bound = true;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status LineReader::ReadHeader(Json j, Header* out) {
  out->format = static_cast<int>(NumberOf(j, "format", 0));
  if (out->format < kOldestFormatVersion || out->format > kFormatVersion) {
    return Bad("recording.format",
               absl::StrCat(j.FindExact("format").Brief(), " is none of the formats ", kOldestFormatVersion, " to ",
                            kFormatVersion, " that this program reads"));
  }
  BERTH_RETURN_IF_ERROR(CheckKinds(j, kHeaderMembers, "recording"));
  BERTH_RETURN_IF_ERROR(CheckValues(j.FindExact("gates"), kBool, "recording.gates"));
  BERTH_RETURN_IF_ERROR(CheckValues(j.FindExact("flags"), kText, "recording.flags"));
  BERTH_RETURN_IF_ERROR(CheckValues(j.FindExact("profiles"), kObject, "recording.profiles"));
  out->version = TextOf(j, "version");
  out->corrections = static_cast<int>(NumberOf(j, "mends", 0));
  out->run = TextOf(j, "run");
  out->segment = NumberOf(j, "segment", 0);
  absl::Time time;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, TextOf(j, "time"), &time, &error)) {
    out->wall_seconds = absl::ToUnixSeconds(time);
  }
  out->after_gap = IsTrue(j, "afterGap");
  CoreConfiguration& c = out->configuration;
  c.release = TextOf(j, "release");
  for (auto [gate, on] : j.FindExact("gates").Children()) c.gates[std::string(gate)] = on.Bool();
  for (auto m : j.FindExact("profiles").Children()) {
    BERTH_RETURN_IF_ERROR(CheckKinds(m.value, kProfileMembers, "recording.profiles[]"));
    c.profiles.push_back({TextOf(m.value, "schedulerName"), TextOf(m.value, "provider"), TextOf(m.value, "policy"),
                          TextOf(m.value, "configuration")});
  }
  if (c.profiles.empty()) return Bad("recording.profiles", "must name a scheduler at least");
  c.hard_pod_affinity_symmetric_weight = static_cast<int>(NumberOf(j, "hardPodAffinitySymmetricWeight", 1));
  c.initial_backoff = absl::Microseconds(NumberOf(j, "initialBackoffMicros", 1'000'000));
  c.max_backoff = absl::Microseconds(NumberOf(j, "maxBackoffMicros", 60'000'000));
  c.unschedulable_limit = absl::Microseconds(NumberOf(j, "unschedulableLimitMicros", 60'000'000));
  c.max_requests_in_flight = NumberOf(j, "maxRequestsInFlight", 4096);
  c.ignore_unknown_fields = IsTrue(j, "ignoreUnknownFields");
  if (j.FindExact("percentageOfNodesToScore").IsInt()) c.percentage = NumberOf(j, "percentageOfNodesToScore", 0);
  for (auto [flag, value] : j.FindExact("flags").Children()) {
    out->flags.emplace_back(std::string(flag), std::string(value.Text()));
  }
  return absl::OkStatus();
}

template <typename T>
absl::StatusOr<std::shared_ptr<const T>> LineReader::ReadObject(Json j) {
  if constexpr (std::is_same_v<T, api::Pod>) {
    BERTH_RETURN_IF_ERROR(CheckKinds(j, kPodMembers, "pod"));
    std::shared_ptr<api::Pod> pod;
    if (const Json key = j.FindExact("key"); key.IsString()) {
      const api::PodPtr known = state_.Find<api::Pod>(std::string(key.Text()));
      if (known == nullptr) return Bad("key", key.Brief() + " was never there");
      pod = std::make_shared<api::Pod>();
      pod->tmpl = known->tmpl;
      pod->meta.name = known->meta.name;
      pod->meta.ns = known->meta.ns;
      pod->meta.uid = known->meta.uid;
      pod->meta.creation_seconds = known->meta.creation_seconds;
    } else {
      auto it = templates_.find(NumberOf(j, "of", 0));
      if (it == templates_.end()) return Bad("of", absl::StrCat("no template ", j.FindExact("of").Brief(), " so far"));
      pod = std::make_shared<api::Pod>(*it->second);
      pod->meta.name = TextOf(j, "name");
      pod->meta.ns = pod->tmpl->ns;
      pod->meta.uid = TextOf(j, "uid");
      pod->meta.creation_seconds = NumberOf(j, "created", 0);
    }
    pod->meta.resource_version = TextOf(j, "rv");
    if (const Json d = j.FindExact("deleted"); d.IsInt()) pod->meta.deletion_seconds = d.Int();
    if (const Json started = j.FindExact("started"); started.IsInt()) pod->start_seconds = started.Int();
    pod->preempted_by_scheduler = IsTrue(j, "preempted");
    pod->node_name = util::Symbol(TextOf(j, "node"));
    pod->nominated_node_name = util::Symbol(TextOf(j, "nominated"));
    const auto phase = PhaseOf(TextOf(j, "phase"));
    if (!phase) return Bad("phase", j.FindExact("phase").Brief() + " is none");
    pod->phase = *phase;
    if (const Json s = j.FindExact("scheduled"); s.IsObject()) pod->scheduled = ConditionOf(s);
    return std::shared_ptr<const api::Pod>(std::move(pod));
  } else {
    return Decode<T>(j);
  }
}

template <typename T>
absl::Status LineReader::ReadChange(Json j, scheduler::Change<T>* out) {
  const Json is = j.FindExact("is"), was = j.FindExact("was"), gone = j.FindExact("gone");
  if (is.IsObject()) {
    auto object = ReadObject<T>(is);
    if (!object.ok()) return object.status();
    out->after = *std::move(object);
  }
  if (was.IsObject()) {
    auto object = ReadObject<T>(was);
    if (!object.ok()) return object.status();
    out->before = *std::move(object);
  } else {
    // A member "was" that is null means that there was no object.
    bool was_given = false;
    for (auto [key, value] : j.Children()) was_given |= key == "was";
    const std::string key = out->after != nullptr ? out->after->meta.Key() : std::string(gone.Text());
    if (!was_given) out->before = state_.Find<T>(key);
    if (out->after == nullptr && out->before == nullptr) {
      return Bad("gone", absl::StrCat(gone.Brief(), " was never there"));
    }
  }
  return absl::OkStatus();
}

absl::Status LineReader::ReadReply(Json j, Line* line) {
  using K = scheduler::Answer::Kind;
  scheduler::Reply reply;
  scheduler::Reply* const out = &reply;
  out->id = static_cast<scheduler::RequestId>(NumberOf(j, "id", 0));
  if (const std::string answer = TextOf(j, "answer"); !answer.empty()) {
    bool known = false;
    for (K k : {K::kOk, K::kNotFound, K::kConflict, K::kRefused, K::kServerError, K::kLost}) {
      if (AnswerName(k) != answer) continue;
      out->answer.kind = k;
      known = true;
    }
    if (!known) return Bad("answer", j.FindExact("answer").Brief() + " is none");
  }
  out->answer.message = TextOf(j, "message");
  out->answer.details_kind = TextOf(j, "details");
  if (const Json p = j.FindExact("pod"); p.IsObject()) {
    auto pod = ReadObject<api::Pod>(p);
    if (!pod.ok()) return pod.status();
    out->pod = *std::move(pod);
  }
  line->event.what = ReplyInput(reply);
  const auto bind = binds_.find(static_cast<int64_t>(reply.id));
  if (const Json form = j.FindExact("assigned"); !form.IsNull()) {
    const std::string by = TextOf(j, "assigned");
    if (by != "name" && by != "key") return Bad("assigned", form.Brief() + " is neither \"name\" nor \"key\"");
    if (bind == binds_.end()) return Bad("id", absl::StrCat(reply.id, " is not an unanswered bind"));
    line->outputs.push_back(AssignedLine(bind->second.first, bind->second.second, by == "key"));
  }
  if (bind != binds_.end()) binds_.erase(bind);
  return absl::OkStatus();
}

// Reads a decision for a node, and the bind to it, that are part of the input's line.
void LineReader::ReadDecision(Json j, Line* out) {
  if (!j.FindExact("pod").IsString()) return;
  decided_pod_ = TextOf(j, "pod");
  decided_node_ = TextOf(j, "node");
  out->outputs.push_back(DecisionLine(decided_pod_, decided_node_, NumberOf(j, "fit", 0), NumberOf(j, "ties", 0),
                                      NumberOf(j, "counter", 0)));
  const int64_t id = NumberOf(j, "bind", 0);
  if (id == 0) return;
  out->outputs.push_back(BindLine(id, decided_pod_, decided_node_));
  binds_[id] = {decided_pod_, decided_node_};
}

absl::Status LineReader::ReadInput(Json j, std::string_view what, Line* out) {
  out->kind = Line::Kind::kInput;
  if (what == "extender") {
    out->kind = Line::Kind::kExtender;
    auto& answer = out->event.what.emplace<std::unique_ptr<ExtenderAnswer>>(std::make_unique<ExtenderAnswer>());
    ReadExtenderAnswer(j, answer.get());
    return absl::OkStatus();
  }
  BERTH_RETURN_IF_ERROR(ReadTimes(j, &last_steady_, &out->event));
  if (what == "reply") return ReadReply(j, out);
  if (what == "tick") {
    out->event.what = TickInput{};
  } else if (what == "schedule") {
    out->event.what = ScheduleInput{};
    ReadDecision(j, out);
  } else if (what == "stop") {
    out->event.what = StopInput{};
  } else {
    absl::Status status;
    const bool known = WithKind(what, [&](auto change) {
      status = ReadChange(j, &change);
      if (status.ok()) out->event.what = AnyChange(std::move(change));
    });
    if (!known) return Bad("in", absl::StrCat(std::string(what), " is not an input that this program knows"));
    if (!status.ok()) return status;
    state_.Note(std::get<AnyChange>(out->event.what));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> LineReader::FullOutput(Json j, std::string_view what, std::string_view text) {
  if (what == "decision") {
    decided_pod_ = TextOf(j, "pod");
    decided_node_ = TextOf(j, "node");
  } else if (what == "assigned" || what == "assignedByKey") {
    return AssignedLine(TextOf(j, "pod"), TextOf(j, "node"), what == "assignedByKey");
  } else if (what == "bind") {
    const bool brief = j.FindExact("pod").IsNull();
    if (brief && decided_node_.empty()) return Bad("bind", "no pod was decided before it");
    const int64_t id = NumberOf(j, "id", 0);
    const auto& [pod, node] = binds_[id] =
        brief ? std::pair(decided_pod_, decided_node_) : std::pair(TextOf(j, "pod"), TextOf(j, "node"));
    if (brief) return BindLine(id, pod, node);
  }
  return std::string(text);
}

absl::StatusOr<Line> LineReader::Read(std::string_view text) {
  Line line;
  BERTH_RETURN_IF_ERROR(doc_.Parse(text));
  const Json j = doc_.root();
  if (!j.IsObject()) return Bad("line", "must be an object");
  BERTH_RETURN_IF_ERROR(CheckKinds(j, kLineMembers, ""));
  if (const Json out = j.FindExact("out"); out.IsString()) {
    line.kind = Line::Kind::kOutput;
    auto full = FullOutput(j, out.Text(), text);
    if (!full.ok()) return full.status();
    line.text = *std::move(full);
  } else if (const Json in = j.FindExact("in"); in.IsString()) {
    BERTH_RETURN_IF_ERROR(ReadInput(j, in.Text(), &line));
  } else if (const Json t = j.FindExact("template"); t.IsInt()) {
    line.kind = Line::Kind::kTemplate;
    auto pod = api::DecodePod(j.FindExact("pod"));
    if (!pod.ok()) return pod.status();
    templates_[t.Int()] = *pod;
  } else if (const Json o = j.FindExact("object"); o.IsString()) {
    line.kind = Line::Kind::kObject;
    absl::Status status;
    const bool known = WithKind(o.Text(), [&](auto change) {
      using T = std::remove_const_t<typename decltype(change.after)::element_type>;
      auto object = ReadObject<T>(j.FindExact("is"));
      if (!object.ok()) {
        status = object.status();
        return;
      }
      change.after = *std::move(object);
      line.event.what = AnyChange(std::move(change));
    });
    if (!known) return Bad("object", o.Brief() + " is not a kind that this program knows");
    if (!status.ok()) return status;
    state_.Note(std::get<AnyChange>(line.event.what));
  } else if (const Json s = j.FindExact("state"); s.IsObject()) {
    line.kind = Line::Kind::kState;
    BERTH_RETURN_IF_ERROR(ReadState(s, &state_));
  } else if (j.FindExact("checkpoint").IsString()) {
    line.kind = Line::Kind::kCheckpointEnd;
  } else if (const Json g = j.FindExact("gap"); g.IsInt()) {
    line.kind = Line::Kind::kGap;
    line.lost = g.Int();
  } else if (const Json h = j.FindExact("recording"); h.IsObject()) {
    line.kind = Line::Kind::kHeader;
    state_ = {};
    templates_.clear();
    last_steady_ = 0;
    decided_pod_.clear();
    decided_node_.clear();
    binds_.clear();
    BERTH_RETURN_IF_ERROR(ReadHeader(h, &line.header));
  } else {
    return Bad("line", "is not one that this program knows");
  }
  return line;
}

}  // namespace berth::recording
