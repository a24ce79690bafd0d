// The program runs on a thread of its own, because reading its output and waiting for its end block. The thread shares
// the state with ExecPlugin through a shared_ptr and is detached, so a program that hangs delays neither the
// destruction of ExecPlugin nor the end of the process. The program gets its own process group, which is killed as a
// whole on timeout.
#include "pkg/client/exec_plugin.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <glog/logging.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>

#include "pkg/api/json.h"
#include "pkg/client/json_edit.h"
#include "pkg/util/status.h"

extern char** environ;

namespace berth::client {
namespace {

constexpr size_t kMostOutput = 1 << 20, kMostErrorText = 4 << 10;
// A credential is renewed when it expires within this time, or, if it is short-lived, when a fifth of its lifetime is
// left.
constexpr absl::Duration kAhead = absl::Minutes(2);
// After a failure the plugin is not run again for this long, so that a burst of requests does not run it for each one.
constexpr absl::Duration kFailureAge = absl::Seconds(1);

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) == 0) {
      read = fds[0];
      write = fds[1];
    }
  }
  ~Pipe() {
    CloseWrite();
    if (read >= 0) close(read);
  }
  void CloseWrite() {
    if (write >= 0) close(write);
    write = -1;
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
};

std::string ExecInfo(const ExecPluginConfig& c) {
  JsonWriter out;
  out.Object().Member("kind", "ExecCredential").Member("apiVersion", c.api_version).Key("spec").Object();
  if (!c.cluster_json.empty()) out.Key("cluster").Literal(c.cluster_json);
  return out.Member("interactive", false).End().End().Take();
}

// Reads both pipes to their ends. Returns false if the deadline passed first. Output beyond the limits is read and
// dropped, so that the program is not blocked by a full pipe.
bool ReadAll(Pipe& out, Pipe& err, std::string* output, std::string* errors, absl::Time deadline) {
  pollfd fds[] = {{out.read, POLLIN, 0}, {err.read, POLLIN, 0}};
  std::string* const texts[] = {output, errors};
  int open = 2;
  while (open > 0) {
    const int64_t left = absl::ToInt64Milliseconds(deadline - absl::Now());
    if (left <= 0) return false;
    const int n = poll(fds, 2, static_cast<int>(std::min<int64_t>(left + 1, 60'000)));
    if (n < 0 && errno != EINTR) return false;
    for (int i = 0; n > 0 && i < 2; ++i) {
      if (fds[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t got = read(fds[i].fd, buffer, sizeof buffer);
      if (got > 0) {
        const size_t most = i == 0 ? kMostOutput : kMostErrorText;
        if (texts[i]->size() < most) texts[i]->append(buffer, static_cast<size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        fds[i].fd = -1;  // poll skips it
        --open;
      }
    }
  }
  return true;
}

std::string Tail(const std::string& errors) {
  const std::string text(absl::StripAsciiWhitespace(errors));
  return text.empty() ? "" : absl::StrCat(": ", text);
}

}  // namespace

absl::StatusOr<ExecCredential> ParseExecCredential(std::string_view text, const std::string& api_version) {
  const auto wrong = [](std::string_view why) { return util::InvalidArgument(why); };
  api::Document doc;
  if (absl::Status s = doc.Parse(text); !s.ok()) {
    return wrong(absl::StrCat("decoding stdout: ", util::Message(s)));
  }
  const api::Json root = doc.root();
  if (root.Find("kind").Text() != "ExecCredential") {
    return wrong(absl::StrCat("decoding stdout: kind: ", root.Find("kind").Brief(), ": must be \"ExecCredential\""));
  }
  if (const auto version = root.Find("apiVersion").Text(); version != api_version) {
    return wrong(absl::StrCat("exec plugin is configured to use API version ", api_version,
                              ", plugin returned version ", std::string(version)));
  }
  const api::Json status = root.Find("status");
  if (!status.IsObject()) return wrong("exec plugin didn't return a status field");
  ExecCredential c;
  c.token = std::string(status.Find("token").Text());
  c.cert_pem = std::string(status.Find("clientCertificateData").Text());
  c.key_pem = std::string(status.Find("clientKeyData").Text());
  if (c.token.empty() && c.cert_pem.empty() && c.key_pem.empty()) {
    return wrong("exec plugin didn't return a token or cert/key pair");
  }
  if (c.cert_pem.empty() != c.key_pem.empty()) {
    return wrong("exec plugin returned only certificate or key, not both");
  }
  for (const unsigned char ch : c.token) {
    if (ch < 0x20 || ch == 0x7f) return wrong("exec plugin returned a token with control characters");
  }
  if (const api::Json expires = status.Find("expirationTimestamp"); !expires.IsNull()) {
    std::string error;
    if (!absl::ParseTime(absl::RFC3339_full, std::string(expires.Text()), &c.expires, &error)) {
      return wrong(absl::StrCat("exec plugin: status.expirationTimestamp: ", expires.Brief(),
                                ": must be a time such as 2024-05-01T10:00:00Z"));
    }
  }
  return c;
}

// NOLINT(readability-function-size): follows one child process from start to end; all its descriptors belong together.
absl::StatusOr<ExecCredential> RunExecPlugin(const ExecPluginConfig& c) {
  const std::string name = absl::StrCat("exec: executable ", c.command);
  Pipe out, err;
  if (out.read < 0 || err.read < 0) return util::Unavailable(absl::StrCat(name, ": ", std::strerror(errno)));

  std::vector<std::string> environment;
  const auto set = [&environment](const std::string& variable, const std::string& value) {
    std::erase_if(environment, [&](const std::string& e) { return e.starts_with(variable + "="); });
    environment.push_back(absl::StrCat(variable, "=", value));
  };
  for (char** e = environ; *e != nullptr; ++e) environment.emplace_back(*e);
  for (const auto& [variable, value] : c.env) set(variable, value);
  set("KUBERNETES_EXEC_INFO", ExecInfo(c));
  std::vector<char*> argv = {const_cast<char*>(c.command.c_str())}, envp;
  for (const std::string& a : c.args) argv.push_back(const_cast<char*>(a.c_str()));
  for (std::string& e : environment) envp.push_back(e.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out.write, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err.write, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // The program gets its own process group, so that it can be killed together with its children. Signals that we block
  // or ignore are reset for it.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, c.command.c_str(), &files, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error == ENOENT) {
    return util::NotFound(absl::StrCat(name, " not found", c.install_hint.empty() ? "" : "\n\n", c.install_hint));
  }
  if (error != 0) {
    return util::Unavailable(absl::StrCat(name, ": ", absl::AsciiStrToLower(std::strerror(error))));
  }
  out.CloseWrite();
  err.CloseWrite();
  std::string output, errors;
  const absl::Time deadline = absl::Now() + c.timeout;
  bool whole = ReadAll(out, err, &output, &errors, deadline);
  int status = 0;
  // The program may close its output and keep running.
  while (whole && waitpid(pid, &status, WNOHANG) == 0) {
    whole = absl::Now() < deadline;
    if (whole) absl::SleepFor(absl::Milliseconds(1));
  }
  if (!whole) {
    kill(-pid, SIGKILL);  // the whole process group
    waitpid(pid, &status, 0);
  }
  if (!whole) {
    return util::Unavailable(
        absl::StrCat(name, " did not answer within ", absl::FormatDuration(c.timeout), Tail(errors)));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    return util::Unavailable(absl::StrCat(name, " failed with exit code ", WEXITSTATUS(status), Tail(errors)));
  }
  if (WIFSIGNALED(status)) {
    return util::Unavailable(absl::StrCat(name, " was ended by signal ", WTERMSIG(status), Tail(errors)));
  }
  if (output.size() >= kMostOutput) return util::Unavailable(absl::StrCat(name, " printed too much"));
  auto credential = ParseExecCredential(output, c.api_version);
  if (!credential.ok()) {
    return util::InvalidArgument(absl::StrCat(name, ": ", util::Message(credential.status()), Tail(errors)));
  }
  return credential;
}

struct ExecPlugin::State {
  Run run;
  util::RealClock real_clock;
  const util::Clock* clock = &real_clock;

  struct Waiter {
    const void* owner;
    Executor* executor;
    Ready ready;
  };
  mutable std::mutex mutex;
  std::vector<Waiter> waiters;
  ExecCredential credential;
  uint64_t number = 0;
  bool running = false, refused = false;
  absl::Time made = absl::InfinitePast();
  absl::Status failure;
  absl::Duration failed_at = -absl::InfiniteDuration();

  // Returns whether the credential can be used now.
  bool Good() const { return number > 0 && !refused && clock->Wall() < credential.expires; }
  // Returns whether the credential should be renewed now, although it can still be used.
  bool Soon() const {
    if (credential.expires == absl::InfiniteFuture()) return false;
    const absl::Duration ahead = std::min(kAhead, (credential.expires - made) / 5);
    return clock->Wall() >= credential.expires - ahead;
  }

  // Takes over the result of a run, on the thread of that run, and hands it to all callbacks that wait for it.
  void Finished(absl::StatusOr<ExecCredential> result) {
    std::lock_guard lock(mutex);
    running = false;
    absl::Status status;
    if (result.ok()) {
      credential = *std::move(result);
      made = clock->Wall();
      refused = false;
      ++number;
      if (credential.expires <= made) status = util::Unavailable("exec plugin returned a credential that has expired");
    } else {
      status = result.status();
    }
    if (!status.ok()) {
      status = util::Unavailable(absl::StrCat("getting credentials: ", util::Message(status)));
      LOG(ERROR) << util::Message(status);
      failed_at = clock->Steady();
    }
    failure = status;
    for (Waiter& w : std::exchange(waiters, {})) {
      w.executor->Post([ready = std::move(w.ready), status] { ready(status); });
    }
  }
};

ExecPlugin::ExecPlugin(ExecPluginConfig config) : state_(std::make_shared<State>()) {
  state_->run = [config = std::move(config)] { return RunExecPlugin(config); };
}

ExecPlugin::ExecPlugin(Run run, const util::Clock* clock) : state_(std::make_shared<State>()) {
  state_->run = std::move(run);
  state_->clock = clock;
}

void ExecPlugin::Start(const std::lock_guard<std::mutex>&) {
  if (state_->running) return;
  state_->running = true;
  try {
    // The thread is detached, because the end of the process must not wait for a program that hangs.
    std::thread([state = state_] { state->Finished(state->run()); }).detach();
  } catch (const std::system_error& e) {
    state_->running = false;
    state_->failure = util::Unavailable(absl::StrCat("getting credentials: exec: no thread for it: ", e.what()));
    state_->failed_at = state_->clock->Steady();
    for (State::Waiter& w : std::exchange(state_->waiters, {})) {
      w.executor->Post([ready = std::move(w.ready), status = state_->failure] { ready(status); });
    }
  }
}

// Three cases: a good credential is used at once, and renewed in the background if it expires soon; after a recent
// failure the same error is returned; otherwise the caller waits for the run that is in progress or that is started
// here.
void ExecPlugin::Get(const void* owner, Executor* executor, Ready ready) {
  {
    std::lock_guard lock(state_->mutex);
    if (!state_->Good()) {
      if (!state_->running && state_->clock->Steady() - state_->failed_at < kFailureAge) {
        executor->Post([ready = std::move(ready), status = state_->failure] { ready(status); });
        return;
      }
      state_->waiters.push_back({owner, executor, std::move(ready)});
      Start(lock);
      return;
    }
    if (state_->Soon() && state_->clock->Steady() - state_->failed_at >= kFailureAge) Start(lock);
  }
  ready(absl::OkStatus());
}

void ExecPlugin::Forget(const void* owner) {
  std::lock_guard lock(state_->mutex);
  std::erase_if(state_->waiters, [&](const State::Waiter& w) { return w.owner == owner; });
}

ExecCredential ExecPlugin::credential(uint64_t* number) const {
  std::lock_guard lock(state_->mutex);
  *number = state_->number;
  return state_->credential;
}

void ExecPlugin::Refused(uint64_t number) {
  std::lock_guard lock(state_->mutex);
  if (number == state_->number) state_->refused = true;
}

}  // namespace berth::client
