#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "symbolizer/frame_answers.h"
#include "symbolizer/string_pool.h"
#include "symbolizer/symbolizer.h"

namespace hawk {

/// The known symbols of one file.
struct FileSymbols {
  FrameAnswers answers;  ///< with texts of `pool`
  StringPool pool;
  std::optional<SymbolSource> source;  ///< nullopt: it has not been asked for
  std::string gap;                     ///< see Symbolizer::gap
};

/// A cache of symbols of files, so that a file that another process has mapped is not read again. For one thread at a
/// time.
class KnownSymbols {
 public:
  /// Those of the files with this name (ModuleFile::known_as); of a file of its own if it is empty.
  std::shared_ptr<FileSymbols> of(const std::string& known_as);

 private:
  /// Files that no symbolizer has. A service has some dozens.
  static constexpr std::size_t kMost = 512;

  std::map<std::string, std::shared_ptr<FileSymbols>> files_;
};

}  // namespace hawk
