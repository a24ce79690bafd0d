// The command anonymise: removes names from files that go into a bug report.
#include <iostream>

#include "cmd/schedsim/command.h"
#include "pkg/api/stream.h"
#include "pkg/recording/anonymise.h"
#include "pkg/recording/reader.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

absl::Status CheckAnonymise(const Invocation& o) {
  if (o.files.size() > 1) return util::InvalidArgument("one recording or file at a time can be anonymised");
  return absl::OkStatus();
}

int Anonymise(const Invocation& o, std::ostream& out) {
  const std::string& path = o.files[0];
  const auto write = [&](std::string_view line) { out << line; };
  absl::Status status;
  if (path != "-" && recording::IsRecording(path)) {
    status = recording::AnonymiseRecording(path, write);
  } else {
    auto text = api::ReadInput(path);
    status = text.ok() ? recording::AnonymiseObjects(*text, write) : text.status();
  }
  if (status.ok()) return kExitOk;
  std::cerr << "schedsim: " << util::Message(status) << "\n";
  return kExitBadInput;
}

}  // namespace

extern const Command kAnonymiseCommand;
const Command kAnonymiseCommand = {
    .name = "anonymise",
    .arguments = "DIR|FILE",
    .summary = "the same recording or objects without names, for a bug report",
    .examples =
        "  schedsim anonymise /var/lib/berth/recording >report.jsonl\n"
        "  schedsim anonymise cluster.json | schedsim run -o placements\n",
    .files = Command::Files::kRequired,
    .check = CheckAnonymise,
    .run = Anonymise,
};

}  // namespace berth::schedsim
