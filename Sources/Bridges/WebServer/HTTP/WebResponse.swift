package import NIOCore
internal import Support

package struct WebRequest: Sendable {
    /// The path as it was received, with percent escapes. It begins with a slash.
    package let path: String
    /// The text after the question mark; `nil` without one.
    package let query: String?
}

/// A file that does not change while the server runs.
package struct WebFile: Sendable {
    package let contentType: String
    package let bytes: ByteBuffer
    /// The entity tag, with its quotation marks.
    package let tag: String

    package init(contentType: String, bytes: ByteBuffer) {
        self.contentType = contentType
        self.bytes = bytes
        // Distinguishes versions of the same file. Hashes the raw bytes, since the buffer's view checks its bounds for
        // each byte.
        let hash = bytes.withUnsafeReadableBytes { $0.fnv1a }
        tag = "\"\(String(hash, radix: 16))-\(String(bytes.readableBytes, radix: 16))\""
    }
}

package struct WebResponse: Sendable {
    package var status: Int
    package var contentType: String
    package var body: ByteBuffer
    package var headers: [(name: String, value: String)] = []

    package init(status: Int = 200, contentType: String, body: ByteBuffer) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// Creates an answer with a short text for the user.
    package init(status: Int, _ text: String, headers: [(name: String, value: String)] = []) {
        self.init(status: status, contentType: "text/plain; charset=utf-8", body: ByteBuffer(string: text + "\n"))
        self.headers = headers
    }
}
