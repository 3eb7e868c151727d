#pragma once

#include "userspace/code/code_scan.h"
#include "userspace/code/probe_placement.h"

namespace hawk {

/// Where to put the probe of a function that frees. As place_probe, or further on where a trap costs less, if all that
/// lies between is harmless: glibc's free pushes what it saves, looks at the block's header, and then branches.
///
/// What is claimed of such an instruction, and is proved over the machine code, for every call that enters the function
/// at its first instruction and that place_probe's point would have seen:
///
/// 1. Between the two it runs through straight code. Nothing else leads into that: no jump or call of the file, no
///    handler of an exception, no other function that a public symbol names; nor does any of it lead out.
/// 2. In that code nothing is done that another thread or the allocator could see: it has no call, no system call, and
///    stores to words of its own frame alone, of which none is the return address or the caller's saved rbp. So the
///    block is still the program's, as it was at the entry. Loads there are: where one faults the block has not been
///    freed, and where a handler of that fault goes on elsewhere it never will be by this call. A probe before them
///    would have counted it.
/// 3. A register still holds the block's address.
/// 4. The return address is `frame.slot_words` above rsp, and the caller's rbp is where `frame` says.
///
/// Trusted is what is for plans (yield_plan.h).
ProbePoint place_free_probe(BranchTargets& resolver, CodeScan& scan, FunctionExtent function,
                            const ArgumentRegisters& passed_in = kPassedInOrder);

}  // namespace hawk
