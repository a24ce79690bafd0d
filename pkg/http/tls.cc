// Verification is OpenSSL's, with the host name check added for each connection (PrepareTls). Errors resemble those of
// Go's crypto/x509, which operators know.
#include "pkg/http/tls.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <glog/logging.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <array>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <fstream>
#include <iterator>
#include <memory>

#include "pkg/http/tls_settings.h"
#include "pkg/util/status.h"

namespace berth::http {
namespace {

bool IsAddress(const std::string& host) {
  boost::system::error_code ec;
  boost::asio::ip::make_address(host, ec);
  return !ec;
}

std::vector<X509_OBJECT*> Objects(STACK_OF(X509_OBJECT) * stack) {
  std::vector<X509_OBJECT*> all;
  for (int i = 0; i < sk_X509_OBJECT_num(stack); ++i) all.push_back(sk_X509_OBJECT_value(stack, i));
  return all;
}

void FreeSession(void* /*context*/, void* session, CRYPTO_EX_DATA*, int, long, void*) {
  SSL_SESSION_free(static_cast<SSL_SESSION*>(session));
}

// Returns under which index a context has the session of its last connection.
int SessionIndex() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, FreeSession);
  return index;
}

SSL_SESSION* SessionOf(SSL_CTX* context) {
  return static_cast<SSL_SESSION*>(SSL_CTX_get_ex_data(context, SessionIndex()));
}

// Takes the session, which may be null.
void SetSession(SSL_CTX* context, SSL_SESSION* session) {
  SSL_SESSION_free(SessionOf(context));
  SSL_CTX_set_ex_data(context, SessionIndex(), session);
}

// Called when a server has sent a ticket. OpenSSL makes a session unusable when its connection breaks, so a copy is
// kept.
int KeepCopy(SSL* ssl, SSL_SESSION* session) {
  SetSession(SSL_get_SSL_CTX(ssl), SSL_SESSION_dup(session));
  return 0;
}

// A session says that the server's certificate was verified, but not that it is still valid.
bool MayResume(const SSL_SESSION* session) {
  X509* const server = SSL_SESSION_get0_peer(const_cast<SSL_SESSION*>(session));
  return server != nullptr && X509_cmp_current_time(X509_get0_notAfter(server)) > 0;
}

}  // namespace

void DeleteTlsContext::operator()(boost::asio::ssl::context* context) const {
  delete context;
}

absl::StatusOr<TlsContext> NewTlsContext(const TlsOptions& options) {
  namespace asio = boost::asio;
  TlsContext context(new asio::ssl::context(asio::ssl::context::tls_client));
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  // A server may close without a TLS close_notify between responses. That is safe, because lengths and chunks show
  // whether a response is complete.
  SSL_CTX_set_options(context->native_handle(), SSL_OP_IGNORE_UNEXPECTED_EOF);
  if (options.resume) {
    SSL_CTX_set_session_cache_mode(context->native_handle(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context->native_handle(), KeepCopy);
  }
  boost::system::error_code ec;
  if (options.insecure_skip_verify) {
    if (!options.ca_pem.empty()) {
      return absl::InvalidArgumentError("specifying a root certificates file with the insecure flag is not allowed");
    }
    context->set_verify_mode(asio::ssl::verify_none, ec);
  } else {
    context->set_verify_mode(asio::ssl::verify_peer, ec);
    if (!options.ca_pem.empty()) {
      context->add_certificate_authority(asio::buffer(options.ca_pem), ec);
      if (ec)
        return absl::InvalidArgumentError(
            absl::StrCat("unable to load root certificates (certificate-authority): ", ec.message()));
    } else {
      context->set_default_verify_paths(ec);
    }
  }
  if (!options.cert_pem.empty() || !options.key_pem.empty()) {
    if (options.key_pem.empty()) return absl::InvalidArgumentError("a client certificate needs a client key");
    if (options.cert_pem.empty()) return absl::InvalidArgumentError("a client key needs a client certificate");
    context->use_certificate_chain(asio::buffer(options.cert_pem), ec);
    if (ec)
      return absl::InvalidArgumentError(
          absl::StrCat("unable to load client certificate (client-certificate): ", ec.message()));
    context->use_private_key(asio::buffer(options.key_pem), asio::ssl::context::pem, ec);
    if (ec) return absl::InvalidArgumentError(absl::StrCat("unable to load client key (client-key): ", ec.message()));
    if (SSL_CTX_check_private_key(context->native_handle()) != 1) {
      ERR_clear_error();
      return absl::InvalidArgumentError("client-key does not match client-certificate");
    }
  }
  return context;
}

absl::StatusOr<std::unique_ptr<TlsSource>> TlsSource::New(TlsOptions options, std::string peer) {
  std::unique_ptr<TlsSource> source(new TlsSource({}, std::move(peer)));
  if (absl::Status s = source->Use(std::move(options)); !s.ok()) return s;
  source->generation_ = 0;
  return source;
}

absl::Status TlsSource::Use(TlsOptions options) {
  auto context = NewTlsContext(options);
  if (!context.ok()) return context.status();
  options_ = std::move(options);
  context_ = *std::move(context);
  ++generation_;
  return absl::OkStatus();
}

absl::Status TlsSource::UseCertificate(std::string cert_pem, std::string key_pem) {
  if (cert_pem == options_.cert_pem && key_pem == options_.key_pem) return absl::OkStatus();
  TlsOptions fresh = options_;
  fresh.cert_pem = std::move(cert_pem);
  fresh.key_pem = std::move(key_pem);
  return Use(std::move(fresh));
}

// A program that rotates the certificate writes it and its key one after the other, so for a short time the two files
// may not match. The context then stays as it is until a later refresh.
bool TlsSource::Refresh(absl::Duration now) {
  if (now - looked_at_ < options_.file_age) return false;
  looked_at_ = now;
  TlsOptions fresh = options_;
  const std::pair<const std::string*, std::string*> files[] = {
      {&options_.ca_file, &fresh.ca_pem}, {&options_.cert_file, &fresh.cert_pem}, {&options_.key_file, &fresh.key_pem}};
  bool changed = false;
  std::string problem;
  for (const auto& [file, pem] : files) {
    if (file->empty()) continue;
    std::ifstream in(*file, std::ios::binary);
    std::string content((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (content.empty()) problem = absl::StrCat("unable to read ", *file);
    changed |= content != *pem;
    *pem = std::move(content);
  }
  if (!changed) {
    problem_.clear();
    return false;
  }
  if (problem.empty()) {
    const absl::Status used = Use(std::move(fresh));
    if (used.ok()) {
      LOG(INFO) << "The certificates of the connection to " << peer_ << " have changed";
      problem_.clear();
      return true;
    }
    problem = util::Message(used);
  }
  if (problem != problem_) {
    LOG(ERROR) << "The changed certificates of the connection to " << peer_ << " cannot be used: " << problem
               << "; continuing with those read before";
    problem_ = problem;
  }
  return false;
}

void PrepareTls(SSL* ssl, const TlsOptions& options, const std::string& host) {
  const std::string& name = options.server_name.empty() ? host : options.server_name;
  X509_VERIFY_PARAM* check = SSL_get0_param(ssl);
  if (IsAddress(name)) {
    X509_VERIFY_PARAM_set1_ip_asc(check, name.c_str());
  } else {
    SSL_set_tlsext_host_name(ssl, name.c_str());
    X509_VERIFY_PARAM_set_hostflags(check, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    X509_VERIFY_PARAM_set1_host(check, name.c_str(), name.size());
  }
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  SSL_set_alpn_protos(ssl, kHttp11, sizeof(kHttp11) - 1);
  if (SSL_SESSION* last = SessionOf(SSL_get_SSL_CTX(ssl)); last != nullptr && MayResume(last)) {
    SSL_set_session(ssl, last);
  }
}

// A server that cannot resume sessions may send tickets all the same, and would refuse every second connection.
void ForgetSession(SSL* ssl, const boost::system::error_code& ec) {
  SSL_CTX* const context = SSL_get_SSL_CTX(ssl);
  const bool refused = SessionOf(context) != nullptr && ec.category() == boost::asio::error::get_ssl_category();
  if (refused) SSL_CTX_sess_set_new_cb(context, nullptr);
  SetSession(context, nullptr);
}

std::string TlsError(SSL* ssl, const boost::system::error_code& ec) {
  long verified = SSL_get_verify_result(ssl);
  if (verified != X509_V_OK) {
    std::string text = X509_verify_cert_error_string(verified);
    if (verified == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT || verified == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN ||
        verified == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY || verified == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT) {
      text = absl::StrCat("certificate signed by unknown authority (", text, ")");
    }
    X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl);
    if (verified == X509_V_ERR_HOSTNAME_MISMATCH) {
      if (const char* name = X509_VERIFY_PARAM_get0_host(wanted, 0)) {
        absl::StrAppend(&text, ": the server's certificate is not for ", name);
      }
    } else if (verified == X509_V_ERR_IP_ADDRESS_MISMATCH) {
      if (char* address = X509_VERIFY_PARAM_get1_ip_asc(wanted)) {
        absl::StrAppend(&text, ": the server's certificate is not for ", address);
        OPENSSL_free(address);
      }
    }
    return absl::StrCat("x509: ", text);
  }
  if (ec.category() == boost::asio::error::get_ssl_category()) return absl::StrCat("tls: ", ec.message());
  return absl::StrCat("tls: handshake failed: ", ec.message());
}

absl::StatusOr<TlsContext> NewServerTlsContext(const ServerTls& tls) {
  namespace asio = boost::asio;
  TlsContext context(new asio::ssl::context(asio::ssl::context::tls_server));
  SSL_CTX* native = context->native_handle();
  BERTH_RETURN_IF_ERROR(ApplyServerSettings(tls, native));
  // Resuming sessions with client certificates would need a session id context. Tickets are not worth their cost here.
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(native, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(native, 0);
  const auto wrong = [](const std::string& from, std::string_view what, const boost::system::error_code& ec) {
    return absl::InvalidArgumentError(absl::StrCat(from, ": ", util::ToAbsl(what), ": ", ec.message()));
  };
  boost::system::error_code ec;
  context->use_certificate_chain(asio::buffer(tls.cert_pem), ec);
  if (ec) return wrong(tls.cert_from, "no PEM certificate can be read", ec);
  context->use_private_key(asio::buffer(tls.key_pem), asio::ssl::context::pem, ec);
  if (!ec && SSL_CTX_check_private_key(native) != 1) {
    ec = boost::system::error_code(static_cast<int>(ERR_get_error()), asio::error::get_ssl_category());
    ERR_clear_error();
  }
  if (ec) return wrong(tls.key_from, "no matching PEM key can be read", ec);
  if (tls.client_ca_pem.empty()) return context;
  context->add_certificate_authority(asio::buffer(tls.client_ca_pem), ec);
  if (!ec) context->set_verify_mode(asio::ssl::verify_peer, ec);
  if (ec) return wrong(tls.client_ca_from, "no PEM certificate can be read", ec);
  // Clients with several certificates choose one by these names.
  for (X509_OBJECT* const object : Objects(X509_STORE_get0_objects(SSL_CTX_get_cert_store(native)))) {
    if (X509* const authority = X509_OBJECT_get0_X509(object)) SSL_CTX_add_client_CA(native, authority);
  }
  return context;
}

namespace {

using Certificates = std::vector<std::unique_ptr<X509, decltype(&X509_free)>>;

std::string Digest(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  if (X509_digest(certificate, EVP_sha256(), bytes.data(), &size) != 1) return "";
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(bytes.data()), size));
}

absl::StatusOr<Certificates> ParseCertificates(const std::string& pem) {
  Certificates found;
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
                                                      &BIO_free);
  while (X509* const certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    found.emplace_back(certificate, &X509_free);
  }
  // The end of the text is reported as an error too: no further certificate starts there.
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  if (found.empty() || ERR_GET_REASON(error) != PEM_R_NO_START_LINE) {
    return absl::InvalidArgumentError("no PEM certificate can be read");
  }
  return found;
}

}  // namespace

absl::Status SetClientAuthorities(boost::asio::ssl::context* context, const std::string& pem) {
  SSL_CTX* const native = context->native_handle();
  if (pem.empty()) {
    SSL_CTX_set_verify(native, SSL_VERIFY_NONE, nullptr);
    return absl::OkStatus();
  }
  auto certificates = ParseCertificates(pem);
  if (!certificates.ok()) return certificates.status();
  X509_STORE* const store = X509_STORE_new();
  STACK_OF(X509_NAME)* const names = sk_X509_NAME_new_null();
  for (const auto& certificate : *certificates) {
    X509_STORE_add_cert(store, certificate.get());
    sk_X509_NAME_push(names, X509_NAME_dup(X509_get_subject_name(certificate.get())));
  }
  SSL_CTX_set_cert_store(native, store);      // takes ownership
  SSL_CTX_set_client_CA_list(native, names);  // takes ownership
  SSL_CTX_set_verify(native, SSL_VERIFY_PEER, nullptr);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> CertificateDigests(const std::string& pem) {
  auto certificates = ParseCertificates(pem);
  if (!certificates.ok()) return certificates.status();
  std::vector<std::string> digests;
  for (const auto& certificate : *certificates) digests.push_back(Digest(certificate.get()));
  return digests;
}

std::optional<Subject> VerifiedSubject(SSL* ssl) {
  if (ssl == nullptr || SSL_get_verify_result(ssl) != X509_V_OK) return std::nullopt;
  X509* const certificate = SSL_get1_peer_certificate(ssl);
  if (certificate == nullptr) return std::nullopt;
  Subject subject;
  X509_NAME* const name = X509_get_subject_name(certificate);
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    X509_NAME_ENTRY* const entry = X509_NAME_get_entry(name, i);
    const int nid = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    if (nid != NID_commonName && nid != NID_organizationName) continue;
    unsigned char* text = nullptr;
    const int length = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry));
    if (length < 0) continue;
    std::string value(reinterpret_cast<const char*>(text), static_cast<size_t>(length));
    OPENSSL_free(text);
    if (nid == NID_commonName) {
      subject.common_name = std::move(value);
    } else {
      subject.organizations.push_back(std::move(value));
    }
  }
  X509_free(certificate);
  if (subject.common_name.empty()) return std::nullopt;
  STACK_OF(X509)* const chain = SSL_get0_verified_chain(ssl);
  for (int i = 0; i < sk_X509_num(chain); ++i) subject.authorities.push_back(Digest(sk_X509_value(chain, i)));
  return subject;
}

}  // namespace berth::http
