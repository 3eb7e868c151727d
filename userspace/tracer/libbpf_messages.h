#pragma once

namespace hawk {

/// Lets what libbpf says pass through log_verbose, line by line; its debug messages nowhere.
void show_libbpf_messages();

}  // namespace hawk
