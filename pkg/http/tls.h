// TLS settings made into OpenSSL contexts, for clients and for servers, and the checks of one connection.
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace berth::http {

// ---- clients ------------------------------------------------------------------------------------

struct TlsOptions {
  bool insecure_skip_verify = false;
  std::string server_name;  // for SNI and the host name check; empty: the host
  // PEM. No CA: the system's roots; with a CA only that one is trusted.
  std::string ca_pem, cert_pem, key_pem;
  // Where that was read from, if it was: looked at again this often, and used for new connections when it has changed.
  std::string ca_file, cert_file, key_file;
  absl::Duration file_age = absl::Seconds(10);
};

// TLS 1.2 or newer; certificate verification unless switched off; our certificate, if any. Errors name what is wrong:
// "unable to load client key (client-key): ...".
absl::StatusOr<std::unique_ptr<boost::asio::ssl::context>> NewTlsContext(const TlsOptions& options);

// The context for new connections, which follows the files that its PEM came from (TlsOptions::ca_file, ...).
class TlsSource {
 public:
  // `peer` is who is at the other end, for log lines: "the API server".
  static absl::StatusOr<std::unique_ptr<TlsSource>> New(TlsOptions options, std::string peer);
  // Looks whether the files have changed, unless it did so `file_age` ago or less; blocks as long as reading them
  // takes. Returns true when there is another context now. What cannot be used, say a certificate whose key has yet to
  // be written, is logged, and the context stays.
  bool Refresh(absl::Duration now);
  // Replaces our certificate and key, for instance by those of a credential plugin. An error leaves the context as it
  // is.
  absl::Status UseCertificate(std::string cert_pem, std::string key_pem);
  boost::asio::ssl::context* context() { return context_.get(); }
  uint64_t generation() const { return generation_; }  // how often the context has changed

 private:
  TlsSource(TlsOptions options, std::string peer) : options_(std::move(options)), peer_(std::move(peer)) {}
  absl::Status Use(TlsOptions options);
  TlsOptions options_;
  std::string peer_;
  std::unique_ptr<boost::asio::ssl::context> context_;  // open connections keep the one that they were made with alive
  uint64_t generation_ = 0;
  absl::Duration looked_at_ = -absl::InfiniteDuration();
  std::string problem_;  // the last one logged
};

// Sets server name indication, ALPN and the name to check on a connection about to shake hands.
void PrepareTls(SSL* ssl, const TlsOptions& options, const std::string& host);

// Why a handshake failed, as people know it: "x509: certificate has expired".
std::string TlsError(SSL* ssl, const boost::system::error_code& ec);

// ---- servers ------------------------------------------------------------------------------------

struct ServerTls {
  std::string cert_pem, key_pem;
  std::string client_ca_pem;  // client certificates are requested, and verified when shown; empty: not requested
  std::string cert_from, key_from, client_ca_from;  // begin the errors: "--tls-cert-file: /etc/tls.crt"
};

// TLS 1.2 or newer, without session resumption. Errors say what is no PEM certificate or key, and where it is from.
absl::StatusOr<std::unique_ptr<boost::asio::ssl::context>> NewServerTlsContext(const ServerTls& tls);

// Requests certificates of these authorities from clients of new connections, in place of those so far; when `pem` is
// empty no certificate is requested. To be called on the thread that accepts. An error leaves the context as it was.
absl::Status SetClientAuthorities(boost::asio::ssl::context* context, const std::string& pem);

// Returns the SHA-256 digest of each certificate of a bundle, in hexadecimal; an error when there is none or one cannot
// be read.
absl::StatusOr<std::vector<std::string>> CertificateDigests(const std::string& pem);

// Whom a client's certificate names.
struct Subject {
  std::string common_name;
  std::vector<std::string> organizations;  // each as it stands in the certificate; a comma in one separates nothing
  std::vector<std::string> authorities;    // digests of its chain, from its own certificate to the trusted one
};
// Returns the subject of the certificate that the client has shown and that was verified; nothing when there is none.
std::optional<Subject> VerifiedSubject(SSL* ssl);

}  // namespace berth::http
