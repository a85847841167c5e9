/// The file of an identity, in the state in which the identity was read or created.
struct IdentityFile: Sendable {
    static let name = "identity.pem"

    let directory: String
    private let revision: TrustRevision

    /// Call it before the file is read, so that no later change is missed.
    init(directory: String) {
        self.directory = directory
        revision = TrustRevision(file: "\(directory)/\(Self.name)")
    }

    /// Checks that the file still contains the identity with this fingerprint. The file is read only if it has changed.
    ///
    /// - Throws: ``SecurityError/Code/missing``, ``SecurityError/Code/replaced``, ``SecurityError/Code/corrupt`` or
    ///   ``SecurityError/Code/insecure``. A failure of the system, such as too few descriptors, is ignored: it says
    ///   nothing about the identity.
    func check(_ fingerprint: Fingerprint) throws(SecurityError) {
        guard TrustRevision(file: "\(directory)/\(Self.name)") != revision else { return }
        let current: Ed25519Identity?
        do throws(SecurityError) {
            current = try Self.read(directory)
        } catch {
            if [.permissionDenied, .inputOutput].contains(error.code) { return }
            throw error
        }
        guard current?.fingerprint != fingerprint else { return }
        let path = "\(directory)/\(Self.name)"
        throw current == nil
            ? SecurityError(.missing, "\(path) was removed, so its key is no longer used; restart")
            : SecurityError(.replaced, "\(path) has another key now, so the old one is no longer used; restart")
    }

    private static func read(_ directory: String) throws(SecurityError) -> Ed25519Identity? {
        guard let opened = try ProtectedDirectory.open(directory) else { return nil }
        guard var text = try opened.read(name, limit: PEM.maximumByteCount) else { return nil }
        defer { Primitives.erase(&text) }
        return try parse(opened.path(of: name), text).identity
    }

    static func parse(
        _ path: String, _ text: [UInt8]
    ) throws(SecurityError) -> (identity: Ed25519Identity, machine: [UInt8]?) {
        do {
            return try Ed25519Identity.read(text)
        } catch {
            throw error.damaged(path)
        }
    }
}
