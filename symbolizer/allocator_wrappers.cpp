#include "symbolizer/allocator_wrappers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <string>
#include <unordered_set>
#include <vector>

namespace hawk {
namespace {

/// Names that the rule below does not find, by project.
constexpr std::string_view kKnown[] = {
    // GLib
    "g_malloc_n",
    "g_malloc0_n",
    "g_realloc_n",
    "g_try_malloc",
    "g_try_malloc0",
    "g_try_malloc_n",
    "g_try_malloc0_n",
    "g_try_realloc",
    "g_try_realloc_n",
    "g_slice_alloc",
    "g_slice_alloc0",
    "g_aligned_alloc",
    "g_aligned_alloc0",
    // CPython: raw memory, pymalloc, and objects of any type
    "_PyMem_RawMalloc",
    "_PyMem_RawCalloc",
    "_PyMem_RawRealloc",
    "PyMem_RawMalloc",
    "PyMem_RawCalloc",
    "PyMem_RawRealloc",
    "PyMem_Malloc",
    "PyMem_Calloc",
    "PyMem_Realloc",
    "PyObject_Malloc",
    "PyObject_Calloc",
    "PyObject_Realloc",
    "_PyObject_Malloc",
    "_PyObject_Calloc",
    "_PyObject_Realloc",
    "_PyObject_MallocWithType",
    "_PyObject_ReallocWithType",
    "_PyMem_DebugRawAlloc",
    "_PyMem_DebugRawMalloc",
    "_PyMem_DebugRawCalloc",
    "_PyMem_DebugRawRealloc",
    "_PyMem_DebugMalloc",
    "_PyMem_DebugCalloc",
    "_PyMem_DebugRealloc",
    "_PyMem_MiMalloc",
    "_PyMem_MiCalloc",
    "_PyMem_MiRealloc",
    "_PyObject_MiMalloc",
    "_PyObject_MiCalloc",
    "_PyObject_MiRealloc",
    // PostgreSQL
    "palloc",
    "palloc0",
    "palloc_extended",
    "palloc_aligned",
    "repalloc",
    "repalloc0",
    "repalloc_extended",
    "repalloc_huge",
    "MemoryContextAlloc",
    "MemoryContextAllocZero",
    "MemoryContextAllocZeroAligned",
    "MemoryContextAllocExtended",
    "MemoryContextAllocHuge",
    "MemoryContextAllocAligned",
    "MemoryContextAllocationFailure",
    "AllocSetAlloc",
    "AllocSetAllocLarge",
    "AllocSetAllocFromNewBlock",
    "AllocSetRealloc",
    "GenerationAlloc",
    "GenerationAllocLarge",
    "GenerationAllocFromNewBlock",
    "GenerationRealloc",
    "SlabAlloc",
    "SlabAllocFromNewBlock",
    "BumpAlloc",
    "pg_malloc_extended",
    "pg_malloc_internal",
    "pg_malloc0",
    "guc_malloc",
    "guc_realloc",
    // SQLite
    "sqlite3_malloc",
    "sqlite3_malloc64",
    "sqlite3_realloc",
    "sqlite3_realloc64",
    "sqlite3Malloc",
    "sqlite3MallocZero",
    "sqlite3Realloc",
    "sqlite3MemMalloc",
    "sqlite3MemRealloc",
    "sqlite3DbMallocRaw",
    "sqlite3DbMallocRawNN",
    "sqlite3DbMallocZero",
    "sqlite3DbRealloc",
    "sqlite3DbReallocOrFree",
    "dbMallocRawFinish",
    "dbReallocFinish",
    "mallocWithAlarm",
    "sqlite3PageMalloc",
    "pcache1Alloc",
    // nginx, APR
    "ngx_alloc",
    "ngx_palloc",
    "ngx_pnalloc",
    "ngx_pcalloc",
    "ngx_pmemalign",
    "ngx_palloc_large",
    "ngx_palloc_block",
    "ngx_palloc_small",
    "apr_palloc",
    "apr_pcalloc",
    "apr_palloc_debug",
    "apr_pcalloc_debug",
    "apr_allocator_alloc",
    "allocator_alloc",
    // MySQL and MariaDB
    "alloc_root",
    "multi_alloc_root",
    "my_multi_malloc",
    "my_raw_malloc",
    "my_internal_malloc",
    "ut_malloc_low",
    "mem_heap_alloc",
    "mem_heap_zalloc",
    "mem_heap_add_block",
    "mem_heap_create_block_func",
    // Redis, git, GCC and binutils
    "zmalloc_usable",
    "zcalloc_usable",
    "zrealloc_usable",
    "ztrymalloc",
    "ztrycalloc",
    "ztryrealloc",
    "ztrymalloc_usable",
    "ztrycalloc_usable",
    "ztryrealloc_usable",
    "ztrymalloc_usable_internal",
    "ztrycalloc_usable_internal",
    "ztryrealloc_usable_internal",
    "do_xmalloc",
    "xmallocz",
    "xmallocz_gently",
    "do_xmallocz",
    "ggc_internal_alloc",
    "ggc_internal_cleared_alloc",
    "ggc_realloc",
    "bfd_malloc",
    "bfd_zmalloc",
    "bfd_realloc",
    "_obstack_newchunk",
    "_obstack_begin",
    "_obstack_begin_1",
    // OpenSSL, libcurl, expat, Lua, Perl, PHP, Ruby, Erlang, talloc, V8 and Node.js, LLVM
    "CRYPTO_malloc",
    "CRYPTO_zalloc",
    "CRYPTO_calloc",
    "CRYPTO_realloc",
    "CRYPTO_aligned_alloc",
    "Curl_saferealloc",
    "l_alloc",
    "luaM_malloc_",
    "luaM_realloc_",
    "luaM_saferealloc_",
    "luaM_growaux_",
    "luaM_toobig",
    "Perl_safesysmalloc",
    "Perl_safesyscalloc",
    "Perl_safesysrealloc",
    "_emalloc",
    "_ecalloc",
    "_erealloc",
    "_erealloc2",
    "_safe_emalloc",
    "_safe_malloc",
    "__zend_malloc",
    "__zend_calloc",
    "__zend_realloc",
    "zend_mm_alloc_huge",
    "ruby_xmalloc",
    "ruby_xmalloc2",
    "ruby_xcalloc",
    "ruby_xrealloc",
    "ruby_xrealloc2",
    "ruby_xmalloc_body",
    "ruby_mimmalloc",
    "objspace_xmalloc0",
    "objspace_xcalloc",
    "objspace_xrealloc",
    "erts_sys_alloc",
    "erts_sys_realloc",
    "_talloc_pooled_object",
    "__talloc",
    "__talloc_with_prefix",
    "_talloc",
    "_talloc_array",
    "_talloc_zero",
    "_talloc_realloc",
    "talloc_named_const",
    "v8::internal::AllocWithRetry",
    "v8::internal::AllocAtLeastWithRetry",
    "v8::base::AlignedAlloc",
    "node::UncheckedMalloc",
    "node::UncheckedCalloc",
    "node::UncheckedRealloc",
    "llvm::allocate_buffer",
    "llvm::safe_malloc",
    "llvm::safe_calloc",
    "llvm::safe_realloc",
};

/// CPython's.
constexpr std::array<std::string_view, 14> kObjectAllocators = {"gc_alloc",
                                                                "_PyObject_GC_Alloc",
                                                                "_PyObject_GC_Malloc",
                                                                "_PyObject_GC_New",
                                                                "_PyObject_GC_NewVar",
                                                                "_PyObject_New",
                                                                "_PyObject_NewVar",
                                                                "PyType_GenericAlloc",
                                                                "_PyType_AllocNoTrack",
                                                                "PyType_GenericNew",
                                                                "PyObject_GC_Resize",
                                                                "_PyObject_GC_Resize",
                                                                "_PyObject_GC_Link",
                                                                "PyUnstable_Object_GC_NewWithExtraData"};

/// Words that name the operation. "alloc" alone is not among them: most functions called so say for what.
constexpr std::array<std::string_view, 9> kOperations = {"malloc",  "calloc",   "realloc", "zalloc",      "mallocz",
                                                         "malloc0", "memalign", "mallocn", "reallocarray"};
/// Words before the operation that say nothing of a purpose, besides the one that is short for a project's name.
constexpr std::array<std::string_view, 17> kModifiers = {
    "safe",    "checked",  "must", "try", "raw",   "mem",       "memory", "sys",  "default",
    "aligned", "internal", "zero", "do",  "array", "unchecked", "std",    "utils"};
/// Words behind the operation that belong to it.
constexpr std::array<std::string_view, 17> kSuffixes = {"0",    "1",     "2",       "n",        "z",      "s",
                                                        "64",   "array", "aligned", "impl",     "raw",    "zero",
                                                        "fail", "or",    "die",     "internal", "wrapper"};
/// Short words that are not the name of a project: a function with such a name is not a wrapper.
constexpr std::array<std::string_view, 16> kVerbs = {"use", "run", "bad", "big", "old", "new", "hot", "one",
                                                     "all", "get", "set", "put", "no",  "is",  "on",  "end"};
constexpr std::size_t kLongestProject = 3;

template <std::size_t kCount>
bool is_one_of(std::string_view word, const std::array<std::string_view, kCount>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

/// "PyMem_SafeMalloc" has the words py, mem, safe, malloc.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins = is_upper(name[i]) && i > 0 && !is_upper(name[i - 1]);
    if ((begins || name[i] == '_') && !words.back().empty()) words.emplace_back();
    if (name[i] != '_') words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// "xmalloc": an operation behind one to three letters.
bool is_prefixed_operation(std::string_view word) {
  return std::any_of(kOperations.begin(), kOperations.end(), [&](std::string_view operation) {
    const std::size_t prefix = word.size() - std::min(word.size(), operation.size());
    return prefix <= 3 && word.ends_with(operation);
  });
}

/// Whether a name is made of nothing but a project's, modifiers, an operation and suffixes.
bool names_only_an_operation(std::string_view name) {
  constexpr std::size_t kLongestName = 48;
  if (name.size() > kLongestName) return false;
  const std::vector<std::string> words = words_of(name);
  const auto operation =
      std::find_if(words.begin(), words.end(), [](const std::string& word) { return is_prefixed_operation(word); });
  if (operation == words.end()) return false;
  for (auto word = words.begin(); word != operation; ++word) {
    const bool is_project = word == words.begin() && word->size() <= kLongestProject && !is_one_of(*word, kVerbs);
    if (!is_project && !is_one_of(*word, kModifiers)) return false;
  }
  return std::all_of(operation + 1, words.end(), [](const std::string& word) { return is_one_of(word, kSuffixes); });
}

/// The last part of a qualified name, without template arguments.
std::string_view last_component(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const std::size_t scope = name.rfind("::");
  return scope == std::string_view::npos ? name : name.substr(scope + 2);
}

/// Without a symbol's version, and what compilers append to parts of functions: "palloc.part.0".
std::string_view without_suffixes(std::string_view name) { return name.substr(0, name.find_first_of("@.")); }

}  // namespace

bool is_allocator_wrapper(std::string_view name) {
  static const std::unordered_set<std::string_view> known(std::begin(kKnown), std::end(kKnown));
  name = without_suffixes(name);
  return known.contains(name) || names_only_an_operation(last_component(name));
}

bool is_object_allocator(std::string_view name) { return is_one_of(without_suffixes(name), kObjectAllocators); }

}  // namespace hawk
