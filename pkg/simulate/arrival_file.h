// Files that say which pods arrive when, as CSV.
//
// The first line names the columns, in any order. `time` (of the arrival), `duration` (from the start of the pod;
// empty: it runs until the end) and `name` are needed; `namespace`, `priority`, `count` (so many pods NAME-0, NAME-1
// ...) and `template` (a pod or a workload of the input, of whose pods this is one more) may be there. Every other
// column is a resource with the quantities that the pods request. Times are numbers of seconds or have units (times.h).
// A row without a template whose name is that of a pending pod of the input says when that pod arrives.
//
// The columns of the openb trace (cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec, qos, creation_time,
// deletion_time, scheduled_time) are recognised by the header. Its pods run for as long as they did from scheduled_time
// on, or from creation_time where that is empty or not between the other two.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/simulate/arrivals.h"

namespace berth::simulate {

// What rows of a file refer to.
struct KnownPods {
  // Pending pods of the input by "namespace/name", and by name if only one has it (null if several have).
  absl::flat_hash_map<std::string, api::PodPtr> pending;
  // A pod to copy by its name or key, and by what its workload is called: "web", "default/web", "Deployment/web",
  // "Deployment default/web". Null for a name that several have.
  absl::flat_hash_map<std::string, api::PodPtr> templates;
  // The resource in which GPUs are counted in thousandths, and the one in which they are counted; empty: none.
  std::string gpu_milli, gpus;
  bool workloads_act = false;  // they make their pods themselves, so that none of these is there to be copied
};

class ArrivalFile {
 public:
  // Reads the whole file once and checks it. An error names file, line, column and value. `known` must outlive the
  // object. Keeps rows in memory only if they are not in the order of time, or come from standard input ("-").
  static absl::StatusOr<std::unique_ptr<ArrivalFile>> Open(const std::string& path, const KnownPods* known);

  // Returns the arrivals from the beginning. May be called several times, from several threads.
  absl::StatusOr<std::unique_ptr<ArrivalSource>> Arrivals() const;
  const ArrivalFacts& facts() const { return facts_; }
  // Sentences about the file as a whole: that it is not in order, and what is not read of it.
  const std::vector<std::string>& notes() const { return notes_; }
  // The pods of the input that the file names: those whose arrival it tells, and those without a controller that are
  // templates. They do not arrive by themselves.
  const absl::flat_hash_set<const api::Pod*>& named() const { return named_; }

 private:
  class Rows;
  class Sorted;
  friend class Rows;
  // What is only of use while the file is opened.
  struct Facts {
    bool openb = false;
    int64_t out_of_order = 0, given = 0;  // rows
  };
  ArrivalFile() = default;
  absl::Status Keep(const std::string& path);
  absl::Status ReadRows(Facts* facts);
  absl::Status NoteRow(const Rows& rows, size_t line, Facts* facts);

  std::string path_, text_;  // text_: if the rows are kept
  bool kept_ = false;
  const KnownPods* known_ = nullptr;
  struct Place {
    Micros at;
    uint64_t begin;  // in text_
    uint32_t line, size;
  };
  std::vector<Place> order_;  // if the rows are not in the order of time
  ArrivalFacts facts_;
  std::vector<std::string> notes_;
  absl::flat_hash_set<const api::Pod*> named_;
};

}  // namespace berth::simulate
