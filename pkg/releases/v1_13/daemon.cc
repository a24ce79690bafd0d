#include "pkg/releases/v1_10/decides.h"
#include "pkg/releases/v1_13/decides.h"

namespace berth::releases::v1_13 {

const DaemonForm& Serves() {
  static const DaemonForm kForm = [] {
    DaemonForm f = v1_10::Serves();
    f.dialect.version = {13};
    f.secure_port = 10259;
    f.checks_lease = true;
    return f;
  }();
  return kForm;
}

}  // namespace berth::releases::v1_13
