#include "DashboardPage.h"

// An array in Swift with the bytes of all files takes the compiler ten seconds, this none. Clang has #embed for every
// version of C.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char icon_svg[] = {
#embed "files/icon.svg"
};
static const unsigned char index_html[] = {
#embed "files/index.html"
};
static const unsigned char style_css[] = {
#embed "files/style.css"
};
static const unsigned char address_js[] = {
#embed "files/address.js"
};
static const unsigned char binding_js[] = {
#embed "files/binding.js"
};
static const unsigned char commodore_js[] = {
#embed "files/commodore.js"
};
static const unsigned char control_js[] = {
#embed "files/control.js"
};
static const unsigned char controller_js[] = {
#embed "files/controller.js"
};
static const unsigned char controls_js[] = {
#embed "files/controls.js"
};
static const unsigned char details_js[] = {
#embed "files/details.js"
};
static const unsigned char dom_js[] = {
#embed "files/dom.js"
};
static const unsigned char frame_js[] = {
#embed "files/frame.js"
};
static const unsigned char hold_js[] = {
#embed "files/hold.js"
};
static const unsigned char link_js[] = {
#embed "files/link.js"
};
static const unsigned char main_js[] = {
#embed "files/main.js"
};
static const unsigned char memory_js[] = {
#embed "files/memory.js"
};
static const unsigned char mover_js[] = {
#embed "files/mover.js"
};
static const unsigned char number_js[] = {
#embed "files/number.js"
};
static const unsigned char pairing_js[] = {
#embed "files/pairing.js"
};
static const unsigned char panel_js[] = {
#embed "files/panel.js"
};
static const unsigned char picture_js[] = {
#embed "files/picture.js"
};
static const unsigned char plot_js[] = {
#embed "files/plot.js"
};
static const unsigned char reading_js[] = {
#embed "files/reading.js"
};
static const unsigned char series_js[] = {
#embed "files/series.js"
};
static const unsigned char services_js[] = {
#embed "files/services.js"
};
static const unsigned char sources_js[] = {
#embed "files/sources.js"
};
static const unsigned char states_js[] = {
#embed "files/states.js"
};
static const unsigned char store_js[] = {
#embed "files/store.js"
};
static const unsigned char text_js[] = {
#embed "files/text.js"
};
static const unsigned char values_js[] = {
#embed "files/values.js"
};
static const unsigned char vector_js[] = {
#embed "files/vector.js"
};

#define FILE_AT(path, type, bytes) {path, type, bytes, sizeof(bytes)}
#define MODULE(path, bytes) FILE_AT(path, "text/javascript; charset=utf-8", bytes)

static const struct dashboard_page_file files[] = {
    FILE_AT("/", "text/html; charset=utf-8", index_html),
    FILE_AT("/icon.svg", "image/svg+xml", icon_svg),
    FILE_AT("/style.css", "text/css; charset=utf-8", style_css),
    MODULE("/address.js", address_js),
    MODULE("/binding.js", binding_js),
    MODULE("/commodore.js", commodore_js),
    MODULE("/control.js", control_js),
    MODULE("/controller.js", controller_js),
    MODULE("/controls.js", controls_js),
    MODULE("/details.js", details_js),
    MODULE("/dom.js", dom_js),
    MODULE("/frame.js", frame_js),
    MODULE("/hold.js", hold_js),
    MODULE("/link.js", link_js),
    MODULE("/main.js", main_js),
    MODULE("/memory.js", memory_js),
    MODULE("/mover.js", mover_js),
    MODULE("/number.js", number_js),
    MODULE("/pairing.js", pairing_js),
    MODULE("/panel.js", panel_js),
    MODULE("/picture.js", picture_js),
    MODULE("/plot.js", plot_js),
    MODULE("/reading.js", reading_js),
    MODULE("/series.js", series_js),
    MODULE("/services.js", services_js),
    MODULE("/sources.js", sources_js),
    MODULE("/states.js", states_js),
    MODULE("/store.js", store_js),
    MODULE("/text.js", text_js),
    MODULE("/values.js", values_js),
    MODULE("/vector.js", vector_js),
};

const struct dashboard_page_file *dashboard_page_files(void) { return files; }

size_t dashboard_page_file_count(void) { return sizeof(files) / sizeof(files[0]); }
