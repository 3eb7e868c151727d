#pragma once

namespace hawk {

/// Passes libbpf's messages to log_verbose, line by line; debug messages are dropped.
void show_libbpf_messages();

}  // namespace hawk
