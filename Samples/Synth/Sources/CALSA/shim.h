#include <alsa/asoundlib.h>

// ALSA writes what it tried onto standard error; the errors that it returns say enough.
static void calsa_ignore(const char *file, int line, const char *function, int error, const char *format, ...) {}
static inline void calsa_be_quiet(void) { snd_lib_error_set_handler(calsa_ignore); }
