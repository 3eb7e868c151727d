#pragma once

namespace hawk {

/// From here on small requests of operator new that the system refuses are met from memory that was set aside, so that
/// a report can be made when none is left; large ones still throw std::bad_alloc. Not every library that a report needs
/// survives a refusal: nlohmann-json's destructors allocate, and follow the null pointer of a value that found no
/// memory.
void allow_emergency_memory();

}  // namespace hawk
