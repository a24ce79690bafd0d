#include "pkg/client/tls.h"

#include <absl/strings/str_cat.h>
#include <glog/logging.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <fstream>
#include <iterator>

#include "pkg/util/status.h"

namespace berth::client {
namespace {

bool IsAddress(const std::string& host) {
  boost::system::error_code ec;
  boost::asio::ip::make_address(host, ec);
  return !ec;
}

}  // namespace

absl::StatusOr<std::unique_ptr<boost::asio::ssl::context>> NewTlsContext(const TlsOptions& options) {
  namespace asio = boost::asio;
  auto context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  // The server may close without a TLS goodbye between answers; lengths and chunks tell whether an answer is whole.
  SSL_CTX_set_options(context->native_handle(), SSL_OP_IGNORE_UNEXPECTED_EOF);
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

absl::StatusOr<std::unique_ptr<TlsSource>> TlsSource::New(TlsOptions options) {
  auto context = NewTlsContext(options);
  if (!context.ok()) return context.status();
  std::unique_ptr<TlsSource> source(new TlsSource(std::move(options)));
  source->context_ = *std::move(context);
  return source;
}

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
    auto context = NewTlsContext(fresh);
    if (context.ok()) {
      LOG(INFO) << "The certificates of the connection to the API server have changed";
      options_ = std::move(fresh);
      context_ = *std::move(context);
      problem_.clear();
      ++generation_;
      return true;
    }
    problem = util::Message(context.status());
  }
  if (problem != problem_) {
    LOG(ERROR) << "The changed certificates of the connection to the API server cannot be used: " << problem
               << "; going on with those read before";
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
}

std::string TlsError(SSL* ssl, const boost::system::error_code& ec) {
  long verified = SSL_get_verify_result(ssl);
  if (verified != X509_V_OK) {
    std::string text = X509_verify_cert_error_string(verified);
    if (verified == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT || verified == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN ||
        verified == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY || verified == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT) {
      text = absl::StrCat("certificate signed by unknown authority (", text, ")");
    }
    return absl::StrCat("x509: ", text);
  }
  if (ec.category() == boost::asio::error::get_ssl_category()) return absl::StrCat("tls: ", ec.message());
  return absl::StrCat("tls: handshake failed: ", ec.message());
}

}  // namespace berth::client
