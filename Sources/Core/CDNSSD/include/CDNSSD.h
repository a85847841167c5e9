/// The dns_sd.h of the system: Avahi's compatibility library on Linux, mDNSResponder's own on Apple platforms.
#ifndef CDNSSD_H
#define CDNSSD_H

#include <dns_sd.h>
#include <stdbool.h>

/// Whether the library was made ready before `main` ran.
///
/// Call it once from Swift: a reference to this symbol is what makes the linker keep the object file whose
/// constructor does the work.
bool cdnssd_is_prepared(void);

#endif
