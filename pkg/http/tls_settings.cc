// The names that Go's programs give to versions and cipher suites of TLS, and certificates that are chosen by the name
// that a client asks for.
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <map>

#include "pkg/http/tls.h"
#include "pkg/http/tls_settings.h"
#include "pkg/util/status.h"

namespace berth::http {
namespace {

struct Suite {
  std::string_view go, openssl;  // an empty name of OpenSSL: always offered (TLS 1.3), or not available any more
};
// crypto/tls of Go 1.21; those of TLS 1.3 are accepted and always offered, as there.
constexpr Suite kSuites[] = {
    {"TLS_AES_128_GCM_SHA256", ""},
    {"TLS_AES_256_GCM_SHA384", ""},
    {"TLS_CHACHA20_POLY1305_SHA256", ""},
    {"TLS_RSA_WITH_RC4_128_SHA", ""},
    {"TLS_ECDHE_ECDSA_WITH_RC4_128_SHA", ""},
    {"TLS_ECDHE_RSA_WITH_RC4_128_SHA", ""},
    {"TLS_RSA_WITH_3DES_EDE_CBC_SHA", "DES-CBC3-SHA"},
    {"TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", "ECDHE-RSA-DES-CBC3-SHA"},
    {"TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"},
    {"TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"},
    {"TLS_RSA_WITH_AES_128_CBC_SHA256", "AES128-SHA256"},
    {"TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"},
    {"TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384"},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA-AES128-SHA256"},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "ECDHE-RSA-AES128-SHA256"},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"},
};

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

struct Named {
  std::vector<Certificate> chain;  // the server's first
  Key key{nullptr, &EVP_PKEY_free};
};

// The certificates of a context by name. Owned by the context.
struct ByName {
  std::vector<Named> certificates;
  std::map<std::string, size_t, std::less<>> names;  // lower case
};

std::unique_ptr<BIO, decltype(&BIO_free)> Reading(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free};
}

absl::Status ReadNamed(const ServerTls::Named& from, Named* to) {
  auto certs = Reading(from.cert_pem);
  while (X509* const one = PEM_read_bio_X509(certs.get(), nullptr, nullptr, nullptr)) {
    to->chain.emplace_back(one, &X509_free);
  }
  to->key.reset(PEM_read_bio_PrivateKey(Reading(from.key_pem).get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (to->chain.empty()) {
    return util::InvalidArgument(absl::StrCat(from.cert_from, ": no PEM certificate can be read"));
  }
  const bool matches = to->key != nullptr && X509_check_private_key(to->chain[0].get(), to->key.get()) == 1;
  ERR_clear_error();
  if (!matches) return util::InvalidArgument(absl::StrCat(from.key_from, ": no matching PEM key can be read"));
  return absl::OkStatus();
}

// Returns the host names in a certificate: its alternative names or, without any, its common name.
std::vector<std::string> NamesIn(X509* certificate) {
  std::vector<std::string> out;
  auto* const all = static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; all != nullptr && i < sk_GENERAL_NAME_num(all); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(all, i);
    if (name->type != GEN_DNS) continue;
    out.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                     static_cast<size_t>(ASN1_STRING_length(name->d.dNSName)));
  }
  GENERAL_NAMES_free(all);
  char common[256];
  if (out.empty() &&
      X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, common, sizeof(common)) > 0) {
    out.emplace_back(common);
  }
  return out;
}

// Presents the certificate for the name that the client asks for. Without one, that of the context stays.
int ChooseCertificate(SSL* ssl, void* argument) {
  const auto& by_name = *static_cast<const ByName*>(argument);
  const char* const asked = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  if (asked == nullptr) return 1;
  const std::string host = absl::AsciiStrToLower(asked);
  auto found = by_name.names.find(host);
  // A wildcard stands for one label.
  const size_t dot = host.find('.');
  if (found == by_name.names.end() && dot != std::string::npos) {
    found = by_name.names.find(absl::StrCat("*", host.substr(dot)));
  }
  if (found == by_name.names.end()) return 1;
  const Named& named = by_name.certificates[found->second];
  SSL_certs_clear(ssl);
  if (SSL_use_certificate(ssl, named.chain[0].get()) != 1) return 0;
  if (SSL_use_PrivateKey(ssl, named.key.get()) != 1) return 0;
  for (size_t i = 1; i < named.chain.size(); ++i) {
    if (SSL_add1_chain_cert(ssl, named.chain[i].get()) != 1) return 0;
  }
  return 1;
}

void FreeByName(void*, void* value, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<ByName*>(value);
}

}  // namespace

std::optional<int> TlsVersion(std::string_view name) {
  if (name == "VersionTLS10") return TLS1_VERSION;
  if (name == "VersionTLS11") return TLS1_1_VERSION;
  if (name == "VersionTLS12") return TLS1_2_VERSION;
  if (name == "VersionTLS13") return TLS1_3_VERSION;
  return std::nullopt;
}

std::optional<std::string_view> CipherSuite(std::string_view name) {
  for (const Suite& s : kSuites) {
    if (s.go == name) return s.openssl;
  }
  return std::nullopt;
}

absl::Status ApplyServerSettings(const ServerTls& tls, SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TlsVersion(tls.min_version).value_or(TLS1_2_VERSION));
  std::string ciphers;
  for (const std::string& name : tls.cipher_suites) {
    const std::string_view known = CipherSuite(name).value_or("");
    if (!known.empty()) absl::StrAppend(&ciphers, ciphers.empty() ? "" : ":", std::string(known));
  }
  if (!tls.cipher_suites.empty()) {
    // With suites of TLS 1.3 alone, older versions have none to agree on.
    if (ciphers.empty()) SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    if (!ciphers.empty() && SSL_CTX_set_cipher_list(context, ciphers.c_str()) != 1) {
      ERR_clear_error();
      return util::InvalidArgument(absl::StrCat("--tls-cipher-suites: OpenSSL offers none of ", ciphers));
    }
  }
  if (tls.named.empty()) return absl::OkStatus();
  auto by_name = std::make_unique<ByName>();
  for (const ServerTls::Named& n : tls.named)
    BERTH_RETURN_IF_ERROR(ReadNamed(n, &by_name->certificates.emplace_back()));
  // Of equal names the first counts, and names that were given count before those in certificates.
  for (const bool given : {true, false}) {
    for (size_t i = 0; i < tls.named.size(); ++i) {
      if (tls.named[i].names.empty() == given) continue;
      const auto names = given ? tls.named[i].names : NamesIn(by_name->certificates[i].chain[0].get());
      for (const std::string& name : names) by_name->names.emplace(absl::AsciiStrToLower(name), i);
    }
  }
  static const int kIndex = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, FreeByName);
  SSL_CTX_set_cert_cb(context, ChooseCertificate, by_name.get());
  SSL_CTX_set_ex_data(context, kIndex, by_name.release());
  return absl::OkStatus();
}

}  // namespace berth::http
