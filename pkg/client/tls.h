// TLS settings made into an OpenSSL context, and the checks of one connection (inside this room and for servers'
// peers).
#pragma once
#include <absl/status/statusor.h>

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "pkg/client/http.h"

namespace berth::client {

// TLS 1.2 or newer; certificate verification unless switched off; our certificate, if any. Errors name what is wrong:
// "unable to load client key: ...".
absl::StatusOr<std::unique_ptr<boost::asio::ssl::context>> NewTlsContext(const TlsOptions& options);

// Sets server name indication, ALPN and the name to check on a connection about to shake hands.
void PrepareTls(SSL* ssl, const TlsOptions& options, const std::string& host);

// Why a handshake failed, as people know it: "x509: certificate has expired".
std::string TlsError(SSL* ssl, const boost::system::error_code& ec);

}  // namespace berth::client
