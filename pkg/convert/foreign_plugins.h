// Plugins that Kubernetes does not have, which schedulers of one's own are built with.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/convert/meaning.h"

namespace berth::convert {

// Returns the configuration without the plugins that are not among `names`, with a note for each; nullopt if it has
// none. A name that is similar to one of `names` is taken for a mistake, and stays.
std::optional<std::string> WithoutForeignPlugins(api::Json configuration, const std::vector<std::string>& names,
                                                 Notes* notes);

}  // namespace berth::convert
