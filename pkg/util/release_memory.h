// Frees the memory of containers.
#pragma once

namespace berth::util {

// Empties the container and frees its memory. An assignment of {} keeps that of a std::vector, because it assigns an
// empty list of elements.
template <typename Container>
void ReleaseMemory(Container* c) {
  Container().swap(*c);
}

}  // namespace berth::util
