#pragma once

#include <stddef.h>

/// A file of the page, as a browser gets it.
struct dashboard_page_file {
    const char *path;
    const char *content_type;
    const unsigned char *bytes;
    size_t byte_count;
};

/// The files of the page.
const struct dashboard_page_file *dashboard_page_files(void);

/// How many there are.
size_t dashboard_page_file_count(void);
