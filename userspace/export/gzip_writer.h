#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "userspace/report/text_sink.h"

namespace hawk {

/// Compresses what it is given, as gzip(1) does, on its way to a sink.
class GzipWriter {
 public:
  explicit GzipWriter(const TextSink& sink);
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;
  ~GzipWriter();

  /// False: no more is wanted.
  bool put(std::string_view bytes);
  /// To be called once, at the end.
  bool finish();

 private:
  struct Stream;
  bool deflate_all(std::string_view bytes, bool is_last);

  const TextSink& sink_;
  std::unique_ptr<Stream> stream_;
  std::string buffer_;
  bool wanted_ = true;
};

}  // namespace hawk
