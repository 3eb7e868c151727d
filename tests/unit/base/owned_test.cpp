#include "userspace/base/owned.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace hawk {
namespace {

/// Stands for a C library's object: the library's close function counts its calls in it.
struct Handle {
  int closed = 0;
};

int close_handle(Handle* handle) { return ++handle->closed; }

using OwnedHandle = std::unique_ptr<Handle, Freer<close_handle>>;

TEST(Owned, ClosesOnceAtTheEndOfItsScope) {
  Handle handle;
  {
    OwnedHandle owner(&handle);
    EXPECT_EQ(handle.closed, 0);
    const OwnedHandle moved = std::move(owner);
  }
  EXPECT_EQ(handle.closed, 1);
}

TEST(Owned, NullIsNotClosed) {
  OwnedHandle none;
  none.reset();
  EXPECT_EQ(none.get(), nullptr);
}

TEST(Owned, CostsNoSpace) { EXPECT_EQ(sizeof(OwnedHandle), sizeof(Handle*)); }

}  // namespace
}  // namespace hawk
