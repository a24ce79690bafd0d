// Versions of KubeSchedulerConfiguration that no emulated release reads, as changes to the version that came next.
// Source: pkg/scheduler/apis/config/v1alpha2 (1.18) and v1beta2 (1.22).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/convert/meaning.h"
#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::convert {

struct OlderDocument;
// Returns what is known of a version, or null.
const OlderDocument* FindOlderDocument(std::string_view api_version);

// Returns the document in the version that came next. What has no place in that is noted.
std::string Rewritten(const OlderDocument& older, api::Json document, Notes* notes);

// Returns the plugins that a document may name, with the default lists of its own release. `next` has those of the
// emulated release.
configuration::PluginCatalogue CatalogueOf(const OlderDocument& older, configuration::PluginCatalogue next);

// Returns the plugins that a document may name and the emulated release does not have.
std::vector<std::string> GonePlugins(const OlderDocument& older, const scheduler::Release& decides);

}  // namespace berth::convert
