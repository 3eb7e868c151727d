// A module with every sort of name and inlining that the symbolizer looks for, and nothing else: no libc, no libstdc++.
extern "C" void* malloc(unsigned long bytes);

namespace heap {
namespace {

template <class T>
inline __attribute__((always_inline)) T* make(unsigned long count) {
  if (count > 9) {
    unsigned long total = count * sizeof(T);
    return static_cast<T*>(malloc(total));
  }
  return nullptr;
}

__attribute__((noinline)) long* hidden(unsigned long count) { return make<long>(count) + 1; }

}  // namespace

struct Table {
  enum class Kind { kSmall, kLarge };
  __attribute__((noinline)) void* grow(Kind kind) {
    struct Local {
      static __attribute__((noinline)) void* spare(unsigned long n) { return make<short>(n) - 1; }
    };
    return kind == Kind::kLarge ? Local::spare(size) : hidden(size);
  }
  unsigned long size;
};

}  // namespace heap

extern "C" void* entry(heap::Table* table) {
  const auto lambda = [table](int more) { return heap::make<char>(table->size + static_cast<unsigned>(more)); };
  return lambda(3) != nullptr ? table->grow(heap::Table::Kind::kLarge) : nullptr;
}
