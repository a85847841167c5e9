import Support

/// A serial device that a board may be behind.
struct SerialCandidate: Hashable {
    /// Where udev puts a link to each serial device, with a name that it has at every port.
    static let directory = "/dev/serial/by-id"

    /// The path of the link, for `--serial`.
    let path: String
    /// The device, which has another name at another port.
    let device: String
    let isUsable: Bool

    /// Lists the devices. It may block.
    static func all(in directory: String = directory) -> [SerialCandidate] {
        FileContent.names(in: directory).sorted().map { name in
            let path = directory + "/" + name
            return SerialCandidate(
                path: path, device: resolved(path) ?? path, isUsable: access(path, R_OK | W_OK) == 0)
        }
    }

    private static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}
