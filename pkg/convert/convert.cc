#include "pkg/convert/convert.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "pkg/convert/from_source.h"
#include "pkg/convert/to_configuration.h"
#include "pkg/convert/to_policy.h"
#include "pkg/releases/releases.h"
#include "pkg/util/contract.h"

namespace berth::convert {

absl::StatusOr<Conversion> Convert(std::string_view text, const Options& options) {
  BERTH_REQUIRES(options.to != nullptr);
  auto source = ReadSource(text, options);
  if (!source.ok()) return source.status();
  Conversion out;
  out.source = *std::move(source);
  out.notes = std::exchange(out.source.notes, {});
  if (out.source.approximate) {
    out.notes.push_back(
        {out.source.what, absl::StrCat("no emulated release reads this version; it is read as release ",
                                       std::string(out.source.release->name), " reads the one after it")});
  }
  auto meaning = MeaningOf(out.source, options.gates, &out.notes);
  if (!meaning.ok()) return meaning.status();
  out.is_policy = releases::Of(*options.to).decides.plugins == nullptr;
  configuration::Gates gates;
  if (!meaning->profiles.empty()) gates = meaning->profiles[0].rules.gates;
  out.json = out.is_policy ? ToPolicy(*meaning, *options.to, options.gates, &out.notes)
                           : ToConfiguration(*meaning, *options.to, gates, &out.notes);
  // Entries of one kind may lead to one note.
  Notes distinct;
  for (Note& n : out.notes) {
    if (std::find(distinct.begin(), distinct.end(), n) == distinct.end()) distinct.push_back(std::move(n));
  }
  out.notes = std::move(distinct);
  return out;
}

}  // namespace berth::convert
