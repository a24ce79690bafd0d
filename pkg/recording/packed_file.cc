// The format of a file is recognised by its first bytes. A truncated file is not an error: it is read as far as
// possible, and then ended_early() is true. Bytes that cannot be what was written are an error.
#include "pkg/recording/packed_file.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "pkg/util/status.h"

namespace berth::recording {
namespace {

// The fastest level that still finds most repetitions from pod to pod, with a window (128 KiB) that leaves room for
// others in a processor's caches.
constexpr int kLevel = -2, kWindowLog = 17;
constexpr char kMagic[] = "\x28\xB5\x2F\xFD";

}  // namespace

absl::Status ErrnoStatus(std::string_view what, const std::string& path) {
  return util::Unavailable(absl::StrCat(std::string(what), " ", path, ": ", std::strerror(errno)));
}

// ---- writing ------------------------------------------------------------------------------------

struct Packer::State {
  ~State() { ZSTD_freeCCtx(context); }

  ZSTD_CCtx* context = nullptr;  // made for the first file
  char packed[1 << 16];
  ZSTD_outBuffer out{packed, sizeof(packed), 0};
};

Packer::Packer() : state_(std::make_unique<State>()) {}
Packer::~Packer() = default;

PackedWriter::PackedWriter(std::string path, int fd, Packer::State* packer)
    : path_(std::move(path)), fd_(fd), packer_(*packer) {}
PackedWriter::~PackedWriter() {
  close(fd_);
}

absl::StatusOr<std::unique_ptr<PackedWriter>> PackedWriter::Create(const std::string& path, Packer* packer) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return ErrnoStatus("cannot create", path);
  Packer::State& p = *packer->state_;
  std::unique_ptr<PackedWriter> writer(new PackedWriter(path, fd, &p));
  if (p.context == nullptr) p.context = ZSTD_createCCtx();
  // The file before may have failed in the middle.
  p.out.pos = 0;
  if (p.context == nullptr || ZSTD_isError(ZSTD_CCtx_reset(p.context, ZSTD_reset_session_and_parameters)) ||
      ZSTD_isError(ZSTD_CCtx_setParameter(p.context, ZSTD_c_windowLog, kWindowLog)) ||
      ZSTD_isError(ZSTD_CCtx_setParameter(p.context, ZSTD_c_compressionLevel, kLevel)) ||
      ZSTD_isError(ZSTD_CCtx_setParameter(p.context, ZSTD_c_checksumFlag, 1))) {
    return util::Internal("cannot compress: no memory");
  }
  return writer;
}

absl::Status PackedWriter::Empty() {
  const char* at = packer_.packed;
  while (packer_.out.pos > 0) {
    const ssize_t n = write(fd_, at, packer_.out.pos);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus("cannot write", path_);
    at += n;
    packer_.out.pos -= static_cast<size_t>(n);
    bytes_ += n;
  }
  return absl::OkStatus();
}

absl::Status PackedWriter::Put(std::string_view text, Flush flush) {
  ZSTD_outBuffer& out = packer_.out;
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  const ZSTD_EndDirective directive = flush == Flush::kNone    ? ZSTD_e_continue
                                      : flush == Flush::kWrite ? ZSTD_e_flush
                                                               : ZSTD_e_end;
  for (;;) {
    const size_t left = ZSTD_compressStream2(packer_.context, &out, &in, directive);
    if (ZSTD_isError(left)) {
      return util::Internal(absl::StrCat("cannot compress ", path_, ": ", ZSTD_getErrorName(left)));
    }
    if (out.pos == out.size) {
      BERTH_RETURN_IF_ERROR(Empty());
      continue;
    }
    if (in.pos < in.size || (flush != Flush::kNone && left > 0)) continue;
    return flush == Flush::kNone ? absl::OkStatus() : Empty();
  }
}

// ---- reading ------------------------------------------------------------------------------------

struct PackedReader::Stream {
  ~Stream() {
    ZSTD_freeDCtx(context);
    if (gz != nullptr) gzclose(gz);
    if (fd >= 0) close(fd);
  }
  bool ReadGzip(std::string* out) {
    char chunk[1 << 16];
    const int n = gzread(gz, chunk, sizeof(chunk));
    if (n <= 0) {
      int error = Z_OK;
      const char* const text = gzerror(gz, &error);
      if (error == Z_DATA_ERROR) damage = text;
      ended_early = error != Z_OK || n < 0;
      return false;
    }
    out->append(chunk, static_cast<size_t>(n));
    return true;
  }
  bool ReadZstd(std::string* out) {
    char chunk[1 << 16];
    for (;;) {
      ZSTD_outBuffer unpacked{chunk, sizeof(chunk), 0};
      const size_t hint = ZSTD_decompressStream(context, &unpacked, &in);
      if (ZSTD_isError(hint)) {
        damage = ZSTD_getErrorName(hint);
        return false;
      }
      // The hint is 0 at the end of a frame; if the file ends within a frame, more data would be needed.
      if (unpacked.pos > 0 || in.pos < in.size) within_frame = hint > 0;
      if (unpacked.pos > 0) {
        out->append(chunk, unpacked.pos);
        return true;
      }
      if (in.pos < in.size) continue;
      ssize_t n = 0;
      do {
        n = read(fd, packed, sizeof(packed));
      } while (n < 0 && errno == EINTR);
      if (n <= 0) {
        ended_early = n < 0 || within_frame;
        return false;
      }
      in = {packed, static_cast<size_t>(n), 0};
      within_frame = true;
    }
  }

  int fd = -1;
  ZSTD_DCtx* context = nullptr;
  char packed[1 << 16];
  ZSTD_inBuffer in{packed, 0, 0};
  bool within_frame = false;
  gzFile gz = nullptr;
  bool ended_early = false;
  std::string damage;
};

PackedReader::PackedReader(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}
PackedReader::~PackedReader() = default;

absl::StatusOr<std::unique_ptr<PackedReader>> PackedReader::Open(const std::string& path) {
  auto s = std::make_unique<Stream>();
  s->fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (s->fd < 0) return util::NotFound(absl::StrCat(path, ": ", std::strerror(errno)));
  char magic[sizeof(kMagic) - 1];
  const bool zstd = pread(s->fd, magic, sizeof(magic), 0) == static_cast<ssize_t>(sizeof(magic)) &&
                    std::memcmp(magic, kMagic, sizeof(magic)) == 0;
  if (zstd) {
    s->context = ZSTD_createDCtx();
    if (s->context == nullptr) return util::Internal("cannot read " + path + ": no memory");
  } else {
    // zlib reads plain text unchanged.
    s->gz = gzdopen(std::exchange(s->fd, -1), "rb");
    if (s->gz == nullptr) return util::Internal("cannot read " + path + ": no memory");
  }
  return std::unique_ptr<PackedReader>(new PackedReader(std::move(s)));
}

bool PackedReader::Read(std::string* out) {
  return stream_->gz != nullptr ? stream_->ReadGzip(out) : stream_->ReadZstd(out);
}

bool PackedReader::ended_early() const {
  return stream_->ended_early;
}

const std::string& PackedReader::damage() const {
  return stream_->damage;
}

}  // namespace berth::recording
