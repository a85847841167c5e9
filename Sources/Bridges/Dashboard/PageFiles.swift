internal import WebServer

/// The files of the page, which are in the folder Page and part of the program.
enum PageFiles {
    /// By path.
    static let all: [String: WebFile] = [
        "/": WebFile(contentType: "text/html; charset=utf-8", bytes: PackageResources.index_html),
        "/style.css": WebFile(contentType: "text/css; charset=utf-8", bytes: PackageResources.style_css),
        "/icon.svg": WebFile(contentType: "image/svg+xml", bytes: PackageResources.icon_svg),
        "/card.js": module(PackageResources.card_js),
        "/commodore.js": module(PackageResources.commodore_js),
        "/control.js": module(PackageResources.control_js),
        "/controls.js": module(PackageResources.controls_js),
        "/dom.js": module(PackageResources.dom_js),
        "/frame.js": module(PackageResources.frame_js),
        "/link.js": module(PackageResources.link_js),
        "/main.js": module(PackageResources.main_js),
        "/number.js": module(PackageResources.number_js),
        "/pairing.js": module(PackageResources.pairing_js),
        "/picture.js": module(PackageResources.picture_js),
        "/plot.js": module(PackageResources.plot_js),
        "/reading.js": module(PackageResources.reading_js),
        "/series.js": module(PackageResources.series_js),
        "/services.js": module(PackageResources.services_js),
        "/store.js": module(PackageResources.store_js),
        "/text.js": module(PackageResources.text_js),
        "/values.js": module(PackageResources.values_js),
        "/vector.js": module(PackageResources.vector_js),
    ]

    private static func module(_ bytes: [UInt8]) -> WebFile {
        WebFile(contentType: "text/javascript; charset=utf-8", bytes: bytes)
    }
}
