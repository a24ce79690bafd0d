// Serving certificates and access control. Reviews are asynchronous, so their callbacks hold copies of what they need.
#include "cmd/kube-scheduler/secure_serving.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <glog/logging.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/kube-scheduler/go_text.h"
#include "pkg/api/json_writer.h"
#include "pkg/util/log_line.h"
#include "pkg/util/status.h"

namespace berth::kube_scheduler {
namespace {

constexpr size_t kMaxKept = 1024;

std::string Pem(const std::function<int(BIO*)>& write) {
  BIO* bio = BIO_new(BIO_s_mem());
  std::string out;
  if (write(bio) == 1) {
    char* data = nullptr;
    const long n = BIO_get_mem_data(bio, &data);
    out.assign(data, static_cast<size_t>(n));
  }
  BIO_free(bio);
  return out;
}

absl::Status WriteFile(const std::string& path, const std::string& text, mode_t mode) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  const bool ok = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (fd >= 0) close(fd);
  if (ok) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("--cert-dir: cannot write ", path, ": ", absl::AsciiStrToLower(std::strerror(errno))));
}

HttpResponse Answer(int status, std::string text) {
  HttpResponse r;
  r.status = status;
  r.body = std::move(text);
  r.no_sniff = true;
  return r;
}

// Returns a rejection in the form of an API server. `details`: it has that member, which is empty.
HttpResponse StatusObject(int code, std::string_view reason, const std::string& message, bool details) {
  HttpResponse r;
  r.status = code;
  r.content_type = "application/json";
  api::JsonWriter body;
  body.Object().Member("kind", "Status").Member("apiVersion", "v1").Key("metadata").Object().End();
  body.Member("status", "Failure").Member("message", message).Member("reason", reason);
  if (details) body.Key("details").Object().End();
  r.body = body.Member("code", code).End().Finish();
  r.headers.emplace_back("Cache-Control", "no-cache, private");
  return r;
}

}  // namespace

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0) return "localhost";
  return name;
}

absl::StatusOr<SelfSigned> MakeSelfSigned(const std::vector<std::string>& names) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* cert = X509_new();
  SelfSigned out;
  if (key != nullptr && cert != nullptr) {
    X509_set_version(cert, 2);
    uint64_t serial = 1;
    RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial));
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert), serial >> 1);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 365L * 24 * 3600);
    X509_set_pubkey(cert, key);
    X509_NAME* subject = X509_get_subject_name(cert);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(names[0].c_str()),
                               -1, -1, 0);
    X509_set_issuer_name(cert, subject);
    std::string alternatives;
    for (const std::string& n : names) {
      unsigned char address[16];
      const bool ip = inet_pton(AF_INET, n.c_str(), address) == 1 || inet_pton(AF_INET6, n.c_str(), address) == 1;
      absl::StrAppend(&alternatives, alternatives.empty() ? "" : ",", ip ? "IP:" : "DNS:", n);
    }
    for (const auto& [nid, value] :
         {std::pair(NID_subject_alt_name, alternatives.c_str()), std::pair(NID_basic_constraints, "critical,CA:TRUE"),
          std::pair(NID_ext_key_usage, "serverAuth")}) {
      if (X509_EXTENSION* e = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value)) {
        X509_add_ext(cert, e, -1);
        X509_EXTENSION_free(e);
      }
    }
    if (X509_sign(cert, key, EVP_sha256()) != 0) {
      out.cert_pem = Pem([&](BIO* b) { return PEM_write_bio_X509(b, cert); });
      out.key_pem =
          Pem([&](BIO* b) { return PEM_write_bio_PrivateKey(b, key, nullptr, nullptr, 0, nullptr, nullptr); });
    }
  }
  X509_free(cert);
  EVP_PKEY_free(key);
  if (out.cert_pem.empty() || out.key_pem.empty()) {
    return absl::InternalError("cannot make a self-signed certificate");
  }
  return out;
}

// Precedence: the files of the flags, then those that exist in --cert-dir, then a new self-signed certificate.
absl::StatusOr<http::ServerTls> ServingCertificate(const SecureServingOptions& o) {
  http::ServerTls tls;
  const auto read = [](const char* flag, const std::string& path, std::string* to, std::string* from) {
    auto text = ReadFile(path);
    if (!text.ok()) return absl::InvalidArgumentError(absl::StrCat(flag, ": ", text.status().message()));
    *to = *std::move(text);
    *from = absl::StrCat(flag, ": ", path);
    return absl::OkStatus();
  };
  if (!o.client_ca_file.empty()) {
    if (auto s = read("--client-ca-file", o.client_ca_file, &tls.client_ca_pem, &tls.client_ca_from); !s.ok()) return s;
  }
  if (o.cert_file.empty() != o.key_file.empty()) {
    return absl::InvalidArgumentError("--tls-cert-file and --tls-private-key-file must be given together");
  }
  tls.min_version = o.tls_min_version;
  tls.cipher_suites = o.tls_cipher_suites;
  for (const auto& c : o.sni) {
    http::ServerTls::Named& named = tls.named.emplace_back();
    named.names = c.names;
    if (auto s = read("--tls-sni-cert-key", c.cert_file, &named.cert_pem, &named.cert_from); !s.ok()) return s;
    if (auto s = read("--tls-sni-cert-key", c.key_file, &named.key_pem, &named.key_from); !s.ok()) return s;
  }
  if (!o.cert_file.empty()) {
    if (auto s = read("--tls-cert-file", o.cert_file, &tls.cert_pem, &tls.cert_from); !s.ok()) return s;
    if (auto s = read("--tls-private-key-file", o.key_file, &tls.key_pem, &tls.key_from); !s.ok()) return s;
    return tls;
  }
  const std::string cert = o.cert_dir + "/kube-scheduler.crt", key = o.cert_dir + "/kube-scheduler.key";
  if (!o.cert_dir.empty() && access(cert.c_str(), F_OK) == 0) {
    if (auto s = read("--cert-dir", cert, &tls.cert_pem, &tls.cert_from); !s.ok()) return s;
    if (auto s = read("--cert-dir", key, &tls.key_pem, &tls.key_from); !s.ok()) return s;
    return tls;
  }
  auto made = MakeSelfSigned({HostName(), "localhost", "127.0.0.1"});
  if (!made.ok()) return made.status();
  tls.cert_pem = made->cert_pem;
  tls.key_pem = made->key_pem;
  if (!o.cert_dir.empty()) {
    if (auto s = WriteFile(cert, tls.cert_pem, 0644); !s.ok()) return s;
    if (auto s = WriteFile(key, tls.key_pem, 0600); !s.ok()) return s;
    LOG(INFO) << "Wrote a self-signed certificate to " << cert;
  } else {
    LOG(INFO) << "Generated self-signed cert in-memory";
  }
  return tls;
}

// Limits the caches by emptying them when they are full. So a client that sends a new token with each request causes
// more reviews but uses no more memory.
void AccessControl::Forget() {
  if (users_.size() > kMaxKept) users_.clear();
  if (allowed_.size() > kMaxKept) allowed_.clear();
  kept_ = users_.size() + allowed_.size();
}

bool AccessControl::ForEverybody(const std::string& path) const {
  for (const std::string& allowed : settings_.always_allow_paths) {
    // As in Kubernetes, a slash at the beginning does not matter.
    std::string_view plain(path), wanted(allowed);
    for (std::string_view* p : {&plain, &wanted}) {
      if (p->starts_with('/')) p->remove_prefix(1);
    }
    if (wanted.ends_with('*') ? plain.starts_with(wanted.substr(0, wanted.size() - 1)) : plain == wanted) return true;
  }
  if (!settings_.always_allow_paths.empty()) return false;
  for (const char* page : {"/healthz", "/livez", "/readyz"}) {
    if (path == page) return true;
    if (form_ == Form::kText && absl::StartsWith(path, absl::StrCat(page, "/"))) return true;
  }
  return false;
}

HttpResponse AccessControl::Unauthorized() const {
  return form_ == Form::kText ? Answer(401, "Unauthorized\n")
                              : StatusObject(401, "Unauthorized", "Unauthorized", false);
}

HttpResponse AccessControl::Forbidden(const std::string& why) const {
  if (form_ == Form::kText) return Answer(403, absl::StrCat("Forbidden: ", why, "\n"));
  HttpResponse r = StatusObject(403, "Forbidden", absl::StrCat("forbidden: ", why), true);
  r.no_sniff = true;
  return r;
}

std::optional<client::UserInfo> AccessControl::UserOfCertificate(const HttpRequest& r) const {
  if (!r.certificate) return std::nullopt;
  if (authorities_) {
    if (authorities_->proxy) {
      if (auto user = UserOfProxy(r, *authorities_->proxy)) return user;
    }
    const auto& by = r.certificate->authorities;
    const bool of_user =
        std::any_of(by.begin(), by.end(), [&](const std::string& a) { return authorities_->users.contains(a); });
    if (!of_user) return std::nullopt;
  }
  client::UserInfo user;
  user.name = r.certificate->common_name;
  user.groups = r.certificate->organizations;
  user.groups.emplace_back("system:authenticated");
  return user;
}

// A sender is identified by, in this order, a front proxy, a client certificate or a bearer token; otherwise it is
// anonymous.
void AccessControl::Check(const HttpRequest& r, Decision done) {
  const bool token_counts = form_ == Form::kStatus && r.BearerToken().has_value();
  if (ForEverybody(r.path) && !token_counts) return done(std::nullopt);
  const std::string verb = r.method == "GET" || r.method == "HEAD" ? "get" : absl::AsciiStrToLower(r.method);
  client::UserInfo user;
  if (auto known = UserOfCertificate(r)) return Identified(*known, verb, r.path, std::move(done));
  if (const auto bearer = r.BearerToken()) {
    const std::string token(*bearer);
    if (const auto kept = users_.find(token); kept != users_.end() && kept->second.until >= clock_->Steady()) {
      return Identified(kept->second.value, verb, r.path, std::move(done));
    }
    authenticate_(token, [this, token, verb, path = r.path,
                          done = std::move(done)](const client::ApiResult<client::UserInfo>& answer) {
      if (!answer.ok()) {
        LogUnable("authenticate", answer.error.message);
        return done(Unauthorized());
      }
      client::UserInfo known = answer.value;
      if (!known.authenticated) {
        known = {};  // an empty name: rejected, and cached
        if (form_ == Form::kStatus) LogUnable("authenticate", "invalid bearer token");
      }
      users_.insert_or_assign(token, Kept<client::UserInfo>{clock_->Steady() + settings_.token, known});
      Forget();
      Identified(known, verb, path, done);
    });
    return;
  }
  if (!r.Header("Authorization").empty()) return done(Unauthorized());
  user.name = "system:anonymous";
  user.groups.emplace_back("system:unauthenticated");
  Identified(user, verb, r.path, std::move(done));
}

void AccessControl::LogUnable(std::string_view what, std::string_view why) const {
  if (form_ == Form::kStatus) {
    util::LogLine(absl::StrCat("Unable to ", std::string(what), " the request")).Error(why);
  } else {
    LOG(ERROR) << "Unable to " << what << " the request due to an error: " << why;
  }
}

void AccessControl::Identified(const client::UserInfo& user, std::string verb, std::string path, Decision done) {
  if (user.name.empty()) return done(Unauthorized());
  if (ForEverybody(path)) return done(std::nullopt);
  AccessKey key{user.name, user.uid, user.groups, user.extra, verb, path};
  const auto decide = [this, done, user = user.name, verb, path](bool allowed) {
    if (allowed) return done(std::nullopt);
    done(Forbidden(absl::StrCat("User ", GoQuoted(user), " cannot ", verb, " path ", GoQuoted(path))));
  };
  if (const auto kept = allowed_.find(key); kept != allowed_.end() && kept->second.until >= clock_->Steady()) {
    return decide(kept->second.value);
  }
  authorize_({user, verb, path},
             [this, key = std::move(key), decide, done](const client::ApiResult<client::AccessAnswer>& answer) {
               if (!answer.ok()) {
                 LogUnable("authorize", answer.error.message);
                 return done(Forbidden(absl::StrCat("cannot be authorized: ", answer.error.message)));
               }
               const absl::Duration believed = answer.value.allowed ? settings_.allowed : settings_.refused;
               allowed_.insert_or_assign(key, Kept<bool>{clock_->Steady() + believed, answer.value.allowed});
               Forget();
               decide(answer.value.allowed);
             });
}

}  // namespace berth::kube_scheduler
