#pragma once

#include <memory>

namespace hawk {

/// Deleter that calls the library function `Free`, or a LazyFunction. An alias `std::unique_ptr<T, Freer<f>>` owns a C
/// library's T; each alias is defined in the room that includes the library.
template <auto& Free>
struct Freer {
  template <class T>
  void operator()(T* owned) const {
    Free(owned);
  }
};

}  // namespace hawk
