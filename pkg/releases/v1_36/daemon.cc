#include "pkg/releases/v1_29/decides.h"
#include "pkg/releases/v1_36/decides.h"

namespace berth::releases::v1_36 {

// Lists are beginnings of watches, conditions name the generation of the pod, and there are pages for probes.
const DaemonForm& Serves() {
  static const DaemonForm kForm = [] {
    DaemonForm f = v1_29::Serves();
    f.dialect.version = {36};
    f.serves_probes = f.shows_document = true;
    f.metrics.drops_old = f.metrics.of_events = true;
    f.dialect.streams_lists = f.dialect.reads_lock_to_release = true;
    f.dialect.generation_of_conditions = true;
    return f;
  }();
  return kForm;
}

}  // namespace berth::releases::v1_36
