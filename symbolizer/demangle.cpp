#include "symbolizer/demangle.h"

#include <libiberty/demangle.h>

#include <csetjmp>

namespace hawk {
namespace {

constexpr std::size_t kLongestNameBytes = 1 << 20;
constexpr int kOptions = DMGL_PARAMS | DMGL_ANSI;

using DemangleFunction = int (*)(const char*, int, demangle_callbackref, void*);

/// Where a demangler's output goes, and the way out when there is too much of it.
struct Sink {
  std::string text;
  std::jmp_buf too_long;
};

/// libiberty's callbacks cannot refuse output, so the only way to stop it is to jump over it. It allocates on its stack
/// alone in the callback form, so nothing leaks; and no object of ours with a destructor lives in between.
void append(const char* piece, std::size_t length, void* opaque) {
  Sink* sink = static_cast<Sink*>(opaque);
  if (sink->text.size() + length > kLongestNameBytes) std::longjmp(sink->too_long, 1);
  sink->text.append(piece, length);
}

/// The sink belongs to the caller: an object of this frame would be indeterminate after the jump.
bool run(DemangleFunction function, const char* symbol, Sink* sink) {
  sink->text.clear();
  if (setjmp(sink->too_long) != 0) return false;
  return function(symbol, kOptions, append, sink) != 0 && !sink->text.empty();
}

}  // namespace

std::string demangle(std::string_view symbol) {
  std::string mangled(symbol);
  if (!symbol.starts_with("_Z") && !symbol.starts_with("_R") && !symbol.starts_with("_GLOBAL_")) return mangled;
  Sink sink;
  // Rust first: its legacy scheme is a subset of C++'s, which would show the hash as a name.
  if (run(rust_demangle_callback, mangled.c_str(), &sink)) return sink.text;
  if (run(cplus_demangle_v3_callback, mangled.c_str(), &sink)) return sink.text;
  return mangled;
}

}  // namespace hawk
