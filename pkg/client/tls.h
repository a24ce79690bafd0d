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
// "unable to load client key (client-key): ...".
absl::StatusOr<std::unique_ptr<boost::asio::ssl::context>> NewTlsContext(const TlsOptions& options);

// The context for new connections, which follows the files that its PEM came from (TlsOptions::ca_file, ...).
class TlsSource {
 public:
  static absl::StatusOr<std::unique_ptr<TlsSource>> New(TlsOptions options);
  // Looks whether the files have changed, unless it did so `file_age` ago or less; blocks as long as reading them
  // takes. True: there is another context now. What cannot be used, say a certificate whose key has yet to be
  // written, is logged, and the context stays.
  bool Refresh(absl::Duration now);
  boost::asio::ssl::context* context() { return context_.get(); }
  uint64_t generation() const { return generation_; }  // how often the context has changed

 private:
  explicit TlsSource(TlsOptions options) : options_(std::move(options)) {}
  TlsOptions options_;
  std::unique_ptr<boost::asio::ssl::context> context_;
  uint64_t generation_ = 0;
  absl::Duration looked_at_ = -absl::InfiniteDuration();
  std::string problem_;  // the last one logged
};

// Sets server name indication, ALPN and the name to check on a connection about to shake hands.
void PrepareTls(SSL* ssl, const TlsOptions& options, const std::string& host);

// Why a handshake failed, as people know it: "x509: certificate has expired".
std::string TlsError(SSL* ssl, const boost::system::error_code& ec);

}  // namespace berth::client
