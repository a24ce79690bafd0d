#include "pkg/api/stream.h"

#include <absl/strings/str_cat.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "pkg/api/yaml.h"

namespace berth::api {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Returns the first character that is not white space, or 0.
char FirstCharacter(std::string_view text) {
  size_t at = text.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? '\0' : text[at];
}

// Accepts one document and rejects a second one.
class OneDocument : public JsonSink {
 public:
  bool Split(std::string_view, std::string_view) override { return false; }
  absl::Status Element(std::string_view, std::string_view, Document&) override { return absl::OkStatus(); }
  absl::Status Value(Document& rest) override {
    if (found) return absl::InvalidArgumentError("more than one document");
    found = true;
    document = std::move(rest);
    return absl::OkStatus();
  }
  bool found = false;
  Document document;
};

}  // namespace

namespace {

absl::StatusOr<std::string> ReadWhole(const std::string& path) {
  auto failed = [&](const std::string& why) { return absl::InvalidArgumentError(absl::StrCat(path, ": ", why)); };
  std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return failed(std::strerror(errno));
  std::string text;
  constexpr size_t kChunk = 1 << 20;
  // A text that grows by doubling leaves twice its size behind in smaller buffers.
  struct stat about {};
  if (::fstat(::fileno(file), &about) == 0 && S_ISREG(about.st_mode)) {
    text.reserve(static_cast<size_t>(about.st_size) + kChunk);
  }
  for (;;) {
    size_t had = text.size();
    text.resize(had + kChunk);
    size_t got = std::fread(text.data() + had, 1, kChunk, file);
    text.resize(had + got);
    if (got < kChunk) break;
  }
  int error = std::ferror(file) != 0 ? errno : 0;
  if (file != stdin) std::fclose(file);
  if (error != 0) return failed(std::strerror(error));
  absl::StatusOr<std::string> plain = Gunzip(std::move(text));
  if (!plain.ok()) return failed(std::string(plain.status().message()));
  return plain;
}

}  // namespace

// A small file may uncompress to more than the available memory, so running out of memory is reported as an error.
absl::StatusOr<std::string> ReadInput(const std::string& path) {
  try {
    return ReadWhole(path);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat(path, ": it does not fit into memory"));
  }
}

absl::StatusOr<std::string> Gunzip(std::string text) {
  if (text.size() < 2 || text[0] != '\x1f' || text[1] != '\x8b') return text;
  z_stream z{};
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  if (inflateInit2(&z, kGzipOnly) != Z_OK) return absl::InternalError("gzip: cannot start");
  std::string out;
  std::vector<char> chunk(1 << 18);
  size_t taken = 0;
  int state = Z_OK;
  while (state == Z_OK) {
    if (z.avail_in == 0 && taken < text.size()) {
      size_t n = std::min<size_t>(text.size() - taken, 1u << 30);
      z.next_in = reinterpret_cast<Bytef*>(text.data() + taken);
      z.avail_in = static_cast<uInt>(n);
      taken += n;
    }
    z.next_out = reinterpret_cast<Bytef*>(chunk.data());
    z.avail_out = static_cast<uInt>(chunk.size());
    state = inflate(&z, Z_NO_FLUSH);
    out.append(chunk.data(), chunk.size() - z.avail_out);
    // A gzip file may consist of several members.
    bool more = z.avail_in > 0 || taken < text.size();
    if (state == Z_STREAM_END && more) state = inflateReset(&z);
  }
  std::string why = z.msg != nullptr ? z.msg : "truncated";
  inflateEnd(&z);
  if (state != Z_STREAM_END) return absl::InvalidArgumentError(absl::StrCat("gzip: ", why));
  return out;
}

std::string Gzip(std::string_view text) {
  z_stream z{};
  constexpr int kGzipFormat = 16 + MAX_WBITS;
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipFormat, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();  // the only way for this to fail
  }
  std::string out;
  std::vector<char> chunk(1 << 18);
  for (int state = Z_OK; state != Z_STREAM_END;) {
    if (z.avail_in == 0) {
      const size_t n = std::min<size_t>(text.size(), 1u << 30);
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
      z.avail_in = static_cast<uInt>(n);
      text.remove_prefix(n);
    }
    z.next_out = reinterpret_cast<Bytef*>(chunk.data());
    z.avail_out = static_cast<uInt>(chunk.size());
    state = deflate(&z, text.empty() ? Z_FINISH : Z_NO_FLUSH);
    out.append(chunk.data(), chunk.size() - z.avail_out);
  }
  deflateEnd(&z);
  return out;
}

absl::Status ReadDocuments(std::string_view text, JsonSink& sink) {
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) text.remove_prefix(kByteOrderMark.size());
  char first = FirstCharacter(text);
  if (first == '{' || first == '[') return ReadJson(text, sink);
  return ReadYaml(text, sink);
}

absl::StatusOr<Document> ReadDocument(std::string_view text) {
  OneDocument one;
  absl::Status s = ReadDocuments(text, one);
  if (!s.ok()) return s;
  if (!one.found) return absl::InvalidArgumentError("empty: no document in it");
  return std::move(one.document);
}

}  // namespace berth::api
