#include "pkg/releases/v1_10/decides.h"
#include "pkg/releases/v1_9/decides.h"

namespace berth::releases::v1_9 {

// A leader is elected on request.
const DaemonForm& Serves() {
  static const DaemonForm kForm = [] {
    DaemonForm f = v1_10::Serves();
    f.dialect.version = {9};
    f.dialect.nomination_annotation = kNominationAnnotation;
    f.elects_leader = false;
    return f;
  }();
  return kForm;
}

}  // namespace berth::releases::v1_9
