// Makes OpenSSL contexts from TLS settings, for clients and servers, and checks the certificates of a connection.
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Neither this header nor those of servers and event loops include Asio, which takes seconds to compile.
namespace boost::asio::ssl {
class context;
}
namespace boost::system {
class error_code;
}
typedef struct ssl_st SSL;

namespace berth::http {

struct DeleteTlsContext {
  void operator()(boost::asio::ssl::context* context) const;
};
using TlsContext = std::unique_ptr<boost::asio::ssl::context, DeleteTlsContext>;

// ---- clients ------------------------------------------------------------------------------------

struct TlsOptions {
  bool insecure_skip_verify = false;
  std::string server_name;  // for SNI and the check of the host name; empty: the host
  // PEM. Without a CA the system's roots are trusted; with one, only that one.
  std::string ca_pem, cert_pem, key_pem;
  // The files that the PEM was read from, if any. They are looked at again at intervals of `file_age`, and used for new
  // connections if they have changed.
  std::string ca_file, cert_file, key_file;
  absl::Duration file_age = absl::Seconds(10);
  // Resumes the session of the context's last connection, so that no certificates are exchanged and verified again. For
  // servers of which it is known that they can: all connections of a context go to one server.
  bool resume = false;
};

// Returns a context for TLS 1.2 or newer, with certificate verification unless that is switched off, and with our
// certificate if there is one. Errors name the problem: "unable to load client key (client-key): ...".
absl::StatusOr<TlsContext> NewTlsContext(const TlsOptions& options);

// Holds the context for new connections and follows the files that its PEM came from (TlsOptions::ca_file, ...).
class TlsSource {
 public:
  // `peer` names the other side in log lines: "the API server".
  static absl::StatusOr<std::unique_ptr<TlsSource>> New(TlsOptions options, std::string peer);
  // Checks whether the files have changed, unless that was done within the last `file_age`. Blocks while it reads them.
  // Returns true if the context has changed. Content that cannot be used, for instance a certificate whose key has not
  // been written yet, is logged, and the context stays as it is.
  bool Refresh(absl::Duration now);
  // Replaces our certificate and key, for instance by those of a credential plugin. On an error the context stays as it
  // is.
  absl::Status UseCertificate(std::string cert_pem, std::string key_pem);
  boost::asio::ssl::context* context() { return context_.get(); }
  uint64_t generation() const { return generation_; }  // the number of changes of the context

 private:
  TlsSource(TlsOptions options, std::string peer) : options_(std::move(options)), peer_(std::move(peer)) {}
  absl::Status Use(TlsOptions options);
  TlsOptions options_;
  std::string peer_;
  // open connections keep the context alive with which they were made
  TlsContext context_;
  uint64_t generation_ = 0;
  absl::Duration looked_at_ = -absl::InfiniteDuration();
  std::string problem_;  // the last problem that was logged
};

// Sets server name indication, ALPN and the name to verify on a connection before its handshake.
void PrepareTls(SSL* ssl, const TlsOptions& options, const std::string& host);
// Called when a handshake has failed. The next connection of the context resumes no session, and if the server has
// refused the handshake that was to resume one, no other does either.
void ForgetSession(SSL* ssl, const boost::system::error_code& ec);

// Returns why a handshake failed, in Go's words: "x509: certificate has expired".
std::string TlsError(SSL* ssl, const boost::system::error_code& ec);

// ---- servers ------------------------------------------------------------------------------------

struct ServerTls {
  std::string cert_pem, key_pem;
  std::string client_ca_pem;  // client certificates are requested, and verified if presented; empty: not requested
  std::string cert_from, key_from, client_ca_from;  // prefixes of errors: "--tls-cert-file: /etc/tls.crt"
  std::string min_version;                          // "VersionTLS13"; empty: VersionTLS12
  std::vector<std::string> cipher_suites;           // Go's names, for TLS 1.2 and older; empty: OpenSSL's
  // Certificates for clients that ask for one of the names, with "*." for one label. Without names, those in it.
  struct Named {
    std::string cert_pem, key_pem, cert_from, key_from;
    std::vector<std::string> names;
  };
  std::vector<Named> named;
};

// Returns OpenSSL's number for a version of TLS by its name in Go ("VersionTLS12"), or nothing for an unknown name.
std::optional<int> TlsVersion(std::string_view name);
// Returns OpenSSL's name for a cipher suite by its name in Go, empty if it cannot be chosen, or nothing for an unknown
// name.
std::optional<std::string_view> CipherSuite(std::string_view name);

// Returns a context for TLS as the settings say, without session resumption. Errors say what is not a PEM certificate
// or key, and where it comes from.
absl::StatusOr<TlsContext> NewServerTlsContext(const ServerTls& tls);

// Requests certificates of the authorities in `pem` from clients of new connections, in place of the previous ones. If
// `pem` is empty, no certificate is requested. Called on the thread that accepts. On an error nothing
// changes.
absl::Status SetClientAuthorities(boost::asio::ssl::context* context, const std::string& pem);

// Returns the SHA-256 digest of each certificate of a bundle, in hexadecimal. It is an error if there is none or one
// cannot be read.
absl::StatusOr<std::vector<std::string>> CertificateDigests(const std::string& pem);

// The subject of a client's certificate.
struct Subject {
  std::string common_name;
  std::vector<std::string> organizations;  // each as in the certificate; a comma in one is not a separator
  std::vector<std::string> authorities;    // digests of its chain, from the client's certificate to the trusted one
};
// Returns the subject of the certificate that the client has presented and that was verified, or nothing if there is
// none.
std::optional<Subject> VerifiedSubject(SSL* ssl);

}  // namespace berth::http
