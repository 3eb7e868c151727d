#pragma once

// Functions of our own, written in machine code, on which the price of a probe is measured: what stands at their first
// instruction decides on it.
extern "C" {
void hawk_pushing_function();    ///< begins with an instruction that the kernel emulates
void hawk_moving_function();     ///< begins with one that it has to single-step
void hawk_returning_function();  ///< as the first, for return probes
}
