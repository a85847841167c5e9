internal import DashboardPage
internal import WebServer

/// The files of the page, which are in the folder Page and part of the program.
enum PageFiles {
    /// By path.
    static let all: [String: WebFile] = {
        let files = UnsafeBufferPointer(start: dashboard_page_files(), count: dashboard_page_file_count())
        return Dictionary(
            uniqueKeysWithValues: files.map { file in
                let bytes = [UInt8](UnsafeBufferPointer(start: file.bytes, count: file.byte_count))
                return (
                    String(cString: file.path), WebFile(contentType: String(cString: file.content_type), bytes: bytes)
                )
            })
    }()
}
