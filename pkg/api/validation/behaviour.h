// What an API server does in some releases and not in others, where no table of types, fields or resources says it.
#pragma once
#include "pkg/release/history.h"

namespace berth::validation {

using namespace release::history;  // NOLINT: the checks of a server are about what its release does
using release::Version;

}  // namespace berth::validation
