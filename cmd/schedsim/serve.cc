// The command serve: shows the page of kube-scheduler --enable-ui for a result.
#include <absl/strings/str_cat.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <iostream>
#include <utility>

#include "cmd/schedsim/command.h"
#include "pkg/http/server.h"
#include "pkg/ui/result_source.h"
#include "pkg/ui/server.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

absl::Status CheckServe(const Invocation& o) {
  const int port = o.Get<int>("port");
  if (port >= 0 && port <= 65535) return absl::OkStatus();
  return flags::InvalidValue("port", port, "must be between 0 (any free port) and 65535");
}

void Answer(ui::Server* page, const http::ServerRequest& request, const http::Responder& answer) {
  if (ui::Server::Serves(request.path)) return page->Handle(request, answer, /*authorized=*/false);
  http::ServerResponse other = http::NotFoundPage();
  if (request.path == "/") {
    other = http::ServerResponse();
    other.status = 302;
    other.headers.emplace_back("Location", "/ui/");
  }
  answer.Send(std::move(other));
}

int Serve(const Invocation& o, std::ostream& out) {
  int exit_status = kExitOk;
  const std::unique_ptr<lab::Input> input = ReadOrComplain(o, &exit_status);
  if (input == nullptr) return exit_status;
  const auto fail = [](std::string_view text) {
    std::cerr << "schedsim: " << text << "\n";
    return kExitBadInput;
  };
  if (input->scenarios.size() != 1) {
    return fail(absl::StrCat("serve: the input holds ", input->scenarios.size(), " scenarios; give one"));
  }
  const lab::Scenario& scenario = input->scenarios[0];
  if (!scenario.error.empty()) return fail(scenario.error);
  const util::RealClock clock;
  auto source = ui::ResultSource::Make(scenario, &clock);
  if (!source.ok()) return fail(util::Message(source.status()));

  boost::asio::io_context io;
  ui::Server page(source->get(), [&io](absl::Duration after, std::function<void()> f) {
    auto timer = std::make_shared<boost::asio::steady_timer>(io, absl::ToChronoMilliseconds(after));
    timer->async_wait([timer, f = std::move(f)](boost::system::error_code e) {
      if (!e) f();
    });
  });
  http::ServerOptions limits;
  limits.request_bytes = size_t{2} << 20;
  limits.header_bytes = size_t{64} << 10;
  limits.stream_bytes = size_t{16} << 20;
  limits.max_connections = 100;
  limits.idle = absl::Seconds(60);
  http::Server server(&io, "page", limits);
  const auto port =
      server.Listen("127.0.0.1", static_cast<uint16_t>(o.Get<int>("port")), nullptr,
                    [&page](const http::ServerRequest& r, const http::Responder& answer) { Answer(&page, r, answer); });
  if (!port.ok()) return fail(util::Message(port.status()));
  out << "Serving on http://127.0.0.1:" << *port << "/ui/ until interrupted\n" << std::flush;
  boost::asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&io](boost::system::error_code, int) { io.stop(); });
  io.run();
  return kExitOk;
}

void AddServeFlags(flags::FlagSet& add) {
  add("port", Takes<int>("N")->default_value(0), "the port on 127.0.0.1; 0 picks a free one");
}

constexpr char kServeExamples[] =
    R"(  kubectl get nodes,pods -A -o json | schedsim serve -
  schedsim serve cluster.json --port=8080
)";

}  // namespace

extern const Command kServeCommand = {
    .name = "serve",
    .arguments = "FILE... [flags]",
    .summary = "show a result in the browser: nodes, pending pods and why",
    .examples = kServeExamples,
    .files = Command::Files::kRequired,
    .groups = kAlgorithmFlags | kGateFlags | kInputFlags,
    .add_flags = AddServeFlags,
    .check = CheckServe,
    .run = Serve,
};

}  // namespace berth::schedsim
