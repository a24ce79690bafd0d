#include "pkg/releases/v1_10/decides.h"
#include "pkg/releases/v1_8/decides.h"
#include "pkg/releases/v1_9/decides.h"

namespace berth::releases::v1_8 {

// There are no configuration files yet.
const DaemonForm& Serves() {
  static const DaemonForm kForm = [] {
    DaemonForm f = v1_10::Serves();
    f.dialect.version = {8};
    f.dialect.nomination_annotation = v1_9::kNominationAnnotation;
    f.deprecates_flags = false;
    f.command.words = CommandForm::Words::kIgnored;
    f.serves_profiles = true;
    return f;
  }();
  return kForm;
}

}  // namespace berth::releases::v1_8
