/// What Swift's module of the C library leaves out: on which of the machine's cores a thread runs, when a process ends, and
/// whether the clock is right.
#ifndef CLINUX_H
#define CLINUX_H

#include <stdbool.h>

/// The number of the core on which the calling thread runs, at this moment; negative if it is not known.
int clinux_core(void);

/// Moves the calling thread to another core that it may use; later the system may move it as it likes.
///
/// Returns false if there is none, or where a program cannot choose.
bool clinux_leave_core(void);

/// A descriptor that is readable once the process has ended. The caller closes it.
///
/// Returns a negative number where the system has none: before Linux 5.3, and elsewhere.
int clinux_open_process(int process);

/// Whether something, such as NTP, keeps the machine's time of day right. Always true where the system does not tell.
bool clinux_is_clock_synchronised(void);

#endif
