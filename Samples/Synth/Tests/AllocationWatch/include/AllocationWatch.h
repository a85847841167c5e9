#pragma once

/// Counts from now on what this thread allocates and frees.
void allocation_watch_begin(void);

/// How often it has done so since; -1 where a sanitizer has the allocation to itself.
long allocation_watch_end(void);
