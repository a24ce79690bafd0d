#include "pkg/releases/folders.h"

#include "pkg/releases/v1_10/decides.h"
#include "pkg/releases/v1_13/decides.h"
#include "pkg/releases/v1_19/decides.h"
#include "pkg/releases/v1_29/decides.h"
#include "pkg/releases/v1_36/decides.h"
#include "pkg/releases/v1_8/decides.h"
#include "pkg/releases/v1_9/decides.h"

namespace berth::releases {

std::span<const Folder> Folders() {
  static const Folder kFolders[] = {
      {{8}, {v1_8::Decides(), v1_8::Proceeds()}, v1_8::Serves()},
      {{9}, {v1_9::Decides(), v1_10::Proceeds()}, v1_9::Serves()},
      {{10}, {v1_10::Decides(), v1_10::Proceeds()}, v1_10::Serves()},
      {{13}, {v1_13::Decides(), v1_13::Proceeds()}, v1_13::Serves()},
      {{19}, {v1_19::Decides(), v1_19::Proceeds()}, v1_19::Serves()},
      {{29}, {v1_29::Decides(), v1_29::Proceeds()}, v1_29::Serves()},
      {{36}, {v1_36::Decides(), v1_36::Proceeds()}, v1_36::Serves()},
  };
  return kFolders;
}

}  // namespace berth::releases
