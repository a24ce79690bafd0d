// Versions, cipher suites and named certificates of a server's TLS, for tls.cc.
#pragma once
#include <absl/status/status.h>

#include "pkg/http/tls.h"

typedef struct ssl_ctx_st SSL_CTX;

namespace berth::http {

// Applies min_version, cipher_suites and named. Errors name the flag or the file.
absl::Status ApplyServerSettings(const ServerTls& tls, SSL_CTX* context);

}  // namespace berth::http
