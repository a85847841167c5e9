package import Elemental
import ElementalSecurity
package import Logging
import NIOPosix
import Support

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The services that users have paired from a page. The page keeps control of them after a restart. The list is a file
/// beside the page's identity.
package final class PagePairings: Sendable {
    /// A longer list is not read; this has room for the names of 1,000 services.
    private static let maximumByteCount = 256 << 10
    private static let maximumCount = 1000

    private let file: StateFile?
    private let logger: Logger
    private let targets: Locked<[String]>

    /// Reads the list, which blocks on the disk. Without a directory nothing is stored.
    package init(directory: String?, logger: Logger) {
        self.logger = logger
        let file = directory.map { StateFile(directory: $0, name: "page-pairings.json") }
        self.file = file
        targets = Locked(Self.list(try? file?.read(limit: Self.maximumByteCount)))
    }

    package func contains(_ place: ServicePlace) -> Bool {
        targets.withLock { $0.contains { $0.isSameName(as: place.target) } }
    }

    package func insert(_ place: ServicePlace) {
        let target = place.target
        targets.withLock { Self.insert(target, into: &$0) }
        guard let file else { return }
        NIOThreadPool.singleton.submit { [logger] _ in
            do throws(SecurityError) {
                // Another dashboard may have added to it.
                try file.update(limit: Self.maximumByteCount) { content in
                    var list = Self.list(content)
                    Self.insert(target, into: &list)
                    return (try? JSONEncoder().encode(list)).map { Array($0) } ?? []
                }
            } catch {
                logger.warning(
                    "cannot store the pairing: after a restart the page only observes the service; pair again then",
                    metadata: ["error": "\(error)"])
            }
        }
    }

    private static func insert(_ target: String, into list: inout [String]) {
        list.removeAll { $0.isSameName(as: target) }
        list.append(target)
        if list.count > maximumCount { list.removeFirst(list.count - maximumCount) }
    }

    private static func list(_ content: [UInt8]??) -> [String] {
        guard let content = content ?? nil else { return [] }
        return (try? JSONDecoder().decode([String].self, from: Data(content))) ?? []
    }
}
