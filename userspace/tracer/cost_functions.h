#pragma once

// Functions in machine code with which the cost of a probe is measured: it depends on their first
// instruction.
extern "C" {
void hawk_pushing_function();    ///< begins with an instruction that the kernel emulates
void hawk_moving_function();     ///< begins with one that it has to single-step
void hawk_returning_function();  ///< as the first, for return probes
}
