// Discovery of groups, versions and resources, and the few other fixed pages.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "pkg/apiserver/http.h"

namespace berth::apiserver {

// Returns the response to a GET of a path that is not a resource ("/api", "/apis/apps/v1", "/version", "/healthz"), or
// nothing if the path is none of these. `path` has no trailing slash unless it is "/".
std::optional<HttpResponse> Discovery(Version release, std::string_view path, std::string_view accept);

// Returns the 404 for an unknown path. It lists the known paths and is not a Status.
HttpResponse UnknownPath(Version release);

}  // namespace berth::apiserver
