#ifndef CLIBFUZZER_H
#define CLIBFUZZER_H

#include <stddef.h>
#include <stdint.h>

/// libFuzzer's own loop, for programs that have a main of their own: makes inputs and hands each to the body, until its
/// arguments say that it is enough. In libclang_rt.fuzzer_no_main; declared in LLVM's FuzzerInterface documentation.
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*body)(const uint8_t *bytes, size_t count));

#endif
