package import ElementalSecurity
import NIOPosix

extension ServiceHistories {
    /// Checks that a service already has files, or that there is room for those of another service. For services whose
    /// names peers choose.
    ///
    /// - Parameter maximumCount: the maximum number of services with files.
    /// - Throws: ``SecurityError`` with the code ``SecurityError/Code/full`` if there is no room.
    package static func checkRoom(
        for service: String, directory: String?, maximumCount: Int
    ) async throws(SecurityError) {
        let path = try StateDirectory.path(explicit: directory, environment: StateDirectory.environment) + "/history"
        let names: Result<[String], SecurityError> = await withCheckedContinuation { continuation in
            NIOThreadPool.singleton.submit { _ in
                continuation.resume(
                    returning: Result { () throws(SecurityError) in
                        guard let folder = try ProtectedDirectory.open(path) else { return [] }
                        return try folder.names()
                    })
            }
        }
        let others = try names.get()
        guard others.count >= maximumCount, !others.contains(service) else { return }
        throw SecurityError(
            .full,
            "\(others.count) services already have files in \(path); remove some with 'elemental history clear' or rm")
    }
}
