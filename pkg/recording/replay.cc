// A replay consists of sessions, one for each run of the daemon or checkpoint in the recording. Outputs of a replayed
// scheduler are captured by a Tap, like those of the recorded one, and compared as lines.
#include "pkg/recording/replay.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/recording/corrections.h"
#include "pkg/recording/replay_session.h"
#include "pkg/util/status.h"

namespace berth::recording {
namespace {

using Difference = ReplayResult::Difference;

// Keeps the lines of a scheduler's outputs.
class OutputLines final : public EventSink {
 public:
  void Take(std::vector<Event>* batch) override {
    for (const Event& e : *batch) {
      for (std::string& line : OutputLinesOf(e)) lines.push_back(std::move(line));
      if (!e.IsInput() && !std::holds_alternative<std::unique_ptr<ExtenderAnswer>>(e.what))
        lines.push_back(OutputLine(e));
    }
  }
  std::vector<std::string> lines;
};

class WholeSession final : public Session {
 public:
  WholeSession() : tap_(&outputs_, nullptr, &clock_, nullptr) {}

  absl::Status Build(const CoreConfiguration& config) {
    Core::Surroundings around;
    around.actions = &tap_;
    around.clock = &tap_;
    around.observer = &tap_;
    around.make_extender = extenders_.Factory();
    auto core = Core::Make(config, around);
    if (!core.ok()) return core.status();
    core_ = *std::move(core);
    tap_.Attach(core_->scheduler.get());
    return absl::OkStatus();
  }

  std::optional<Difference> Do(Step* step, ReplayResult* result) override {
    (void)Outputs(step);
    return Compare(*step, result);
  }

  std::vector<std::string> Outputs(Step* step) override {
    clock_.Set(step->input);
    extenders_.Set(std::move(step->answers));
    outputs_.lines.clear();
    if (auto* any = std::get_if<AnyChange>(&step->input.what)) {
      std::visit([&](const auto& c) { tap_.Apply(c); }, *any);
    } else if (auto* r = std::get_if<ReplyInput>(&step->input.what)) {
      tap_.Apply(r->reply());
    } else if (std::holds_alternative<TickInput>(step->input.what)) {
      tap_.Tick();
    } else if (std::holds_alternative<ScheduleInput>(step->input.what)) {
      tap_.ScheduleOne();
    } else {
      tap_.Stop();
    }
    tap_.Flush();
    return outputs_.lines;
  }
  Core& core() override { return *core_; }

 private:
  std::optional<Difference> Compare(const Step& step, ReplayResult* result) {
    const auto& recorded = step.outputs;
    const auto& replayed = outputs_.lines;
    for (size_t i = 0; i < std::max(recorded.size(), replayed.size()); ++i) {
      // What would follow the end of a recording is not known.
      if (i >= recorded.size() && step.cut) break;
      const std::string r = i < recorded.size() ? recorded[i] : "", p = i < replayed.size() ? replayed[i] : "";
      if (r == p) {
        ++result->outputs;
        if (absl::StartsWith(r, "{\"out\":\"decision\"")) {
          ++result->decisions;
          result->placed += r.find("\"node\":") != std::string::npos;
        }
        continue;
      }
      Difference d;
      d.pod = PodOfLine(r.empty() ? p : r);
      d.recorded = r;
      d.replayed = p;
      return d;
    }
    return std::nullopt;
  }

  OutputLines outputs_;
  ReplayClock clock_;
  ReplayExtenders extenders_;
  Tap tap_;
  std::unique_ptr<Core> core_;
};

// Returns the pod that the step decides about; empty if it decides nothing.
std::string DecidedPod(const Step& step) {
  for (const std::string& line : step.outputs) {
    if (absl::StartsWith(line, "{\"out\":\"decision\"")) return PodOfLine(line);
  }
  return "";
}

// Returns the number of the input before which to stop: that of the last decision about the pod before `until`.
absl::StatusOr<int64_t> FindDecision(const std::string& path, const ReplayOptions& options) {
  auto reader = RecordingReader::Open(path);
  if (!reader.ok()) return reader.status();
  int64_t input = 0, found = 0;
  Step step;
  for (;;) {
    auto more = (*reader)->Next(&step);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (step.kind != Step::Kind::kInput) continue;
    if (++input >= options.until) break;
    if (DecidedPod(step) == options.pod) found = input;
  }
  if (found == 0) return util::NotFound(absl::StrCat("no decision about pod ", options.pod, " is recorded"));
  return found;
}

// Returns the corrections that the scheduler of a recording did not have.
std::string CorrectionsFor(const Header& header) {
  const auto release = release::Named(header.configuration.release);
  return CorrectionsAfter(header.corrections, release.ok() ? (*release)->version : release::Version{});
}

// A recording that was lost must not count as one that is the same.
absl::Status CheckNotEmpty(const std::string& path, const ReplayResult& result) {
  if (result.runs + result.checkpoints == 0) return util::InvalidArgument(path + ": the recording is empty");
  if (result.inputs > 0 || result.stopped) return absl::OkStatus();
  return util::InvalidArgument(path + ": the recording has a header and no input");
}

// Returns what a checkpoint would contain.
Step CheckpointOf(const ClusterState& state, const CoreConfiguration& configuration) {
  Step step;
  step.kind = Step::Kind::kCheckpoint;
  step.header.configuration = configuration;
  state.ForEach([&](size_t, const auto& object) {
    using T = std::remove_const_t<typename std::decay_t<decltype(object)>::element_type>;
    step.objects.emplace_back().what = AnyChange(scheduler::Change<T>{nullptr, object});
  });
  step.in_flight = state;
  return step;
}

}  // namespace

std::string PodOfLine(std::string_view line) {
  api::Document doc;
  if (!doc.Parse(line).ok()) return "";
  const api::Json pod = doc.root().FindExact("pod");
  return pod.IsString() ? std::string(pod.Text()) : std::string();
}

absl::StatusOr<std::unique_ptr<Session>> NewWholeSession(const CoreConfiguration& config) {
  auto s = std::make_unique<WholeSession>();
  BERTH_RETURN_IF_ERROR(s->Build(config));
  return s;
}

absl::StatusOr<ReplayResult> Replay(const std::string& path, const ReplayOptions& options) {
  ReplayOptions o = options;
  if (!o.pod.empty()) {
    auto found = FindDecision(path, options);
    if (!found.ok()) return found.status();
    o.until = *found;
  }
  auto reader = RecordingReader::Open(path);
  if (!reader.ok()) return reader.status();
  ReplayResult result;
  std::unique_ptr<Session> session;
  Header header;
  bool decisions_alone = false;
  Step step;
  for (;;) {
    auto more = (*reader)->Next(&step);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (step.kind == Step::Kind::kGap) {
      result.lost += step.lost;
      continue;
    }
    if (step.kind != Step::Kind::kInput) {
      const bool start = step.kind == Step::Kind::kStart;
      ++(start ? result.runs : result.checkpoints);
      auto begun = start ? NewWholeSession(step.header.configuration) : NewDecisionsSession(step);
      header = step.header;
      decisions_alone = !start;
      if (!begun.ok()) return util::InvalidArgument(absl::StrCat(step.at, ": ", util::Message(begun.status())));
      session = *std::move(begun);
      continue;
    }
    if (session == nullptr) return util::InvalidArgument(step.at + ": the recording does not begin with a header");
    if (result.inputs + 1 >= o.until) {
      result.stopped = true;
      break;
    }
    ++result.inputs;
    if (auto d = session->Do(&step, &result)) {
      d->input = result.inputs;
      d->at = step.at;
      if (result.corrections.empty()) result.corrections = CorrectionsFor(header);
      if (o.accept_corrections && !result.corrections.empty()) {
        ++result.accepted;
        if (!std::exchange(decisions_alone, true)) {
          auto begun = NewDecisionsSession(CheckpointOf((*reader)->state(), header.configuration));
          if (!begun.ok()) return begun.status();
          session = *std::move(begun);
        }
        continue;
      }
      result.difference = std::move(d);
      return result;
    }
  }
  BERTH_RETURN_IF_ERROR(CheckNotEmpty(path, result));
  result.truncated = (*reader)->truncated();
  if (result.stopped && o.stopped) {
    api::PodPtr next;
    if (const std::string pod = DecidedPod(step); !pod.empty()) next = (*reader)->state().Find<api::Pod>(pod);
    o.stopped(session->core(), next);
  }
  return result;
}

}  // namespace berth::recording
