// Parses the command line, starts the server, and prints its address once its ports are open.
#include <glog/logging.h>

#include <iostream>

#include "cmd/hollow-apiserver/options.h"
#include "pkg/apiserver/server.h"
#include "pkg/flags/completion.h"
#include "pkg/heap/heap.h"
#include "pkg/util/checked_output.h"
#include "pkg/util/status.h"
#include "pkg/util/terminate.h"
#include "pkg/util/version.h"

int main(int argc, char** argv) {
  using namespace berth;
  heap::UseHugePages();
  util::ExplainUncaughtExceptions("hollow-apiserver");
  util::CheckedOutput output("hollow-apiserver");
  FLAGS_logtostderr = true;
  FLAGS_log_year_in_prefix = false;
  google::InitGoogleLogging(argv[0]);
  if (argc > 1 && std::string_view(argv[1]) == "completion") {
    auto text = flags::CompletionFor(argc == 3 ? argv[2] : "", "hollow-apiserver", apiserver::Flags());
    if (!text.ok()) {
      std::cerr << "hollow-apiserver: " << util::Message(text.status()) << "\n";
      return 1;
    }
    std::cout << *text;
    return output.Finish(0);
  }
  auto line = apiserver::ParseCommandLine(argc, argv);
  if (!line.ok()) {
    std::cerr << "hollow-apiserver: " << util::Message(line.status()) << "\n"
              << flags::HelpHint("hollow-apiserver") << "\n";
    return 1;
  }
  if (line->help) {
    std::cout << apiserver::HelpText();
    return output.Finish(0);
  }
  if (line->version) {
    std::cout << "Berth hollow-apiserver " << util::Version() << "\n";
    return output.Finish(0);
  }
  FLAGS_v = line->verbosity;
  std::string address = line->server.insecure_bind_address;
  apiserver::Server server(std::move(line->server));
  if (absl::Status s = server.Start(); !s.ok()) {
    std::cerr << "hollow-apiserver: " << util::Message(s) << "\n";
    return 1;
  }
  server.StopOnSignals();  // before anybody can know that the server runs and stop it
  std::cout << "Serving insecurely on " << address << ":" << server.insecure_port() << std::endl;
  if (!std::cout) return output.Finish(1);
  server.Run();
  return 0;
}
