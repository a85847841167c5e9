import ElementalFollowing
import NIOCore
import NIOPosix
import Support

/// What a browser has found so far, with the client's relation to each service.
///
/// It is sorted as it grows, off the main actor, because a network may have many services that the program does not
/// need. A browser lists at most 4096.
struct Listing: Sendable {
    private var entries: [(place: SortingPlace, service: ObservedService)] = []
    private var trusted: TrustedServices?
    var failure: ElementalError?

    var services: [ObservedService] { entries.map(\.service) }

    mutating func record(_ event: ElementalBrowser.Event) {
        switch event {
        case .found(let service), .updated(let service):
            let place = SortingPlace(name: service.name, service: service.service)
            let (index, isListed) = find(place)
            entries.replaceSubrange(index..<(isListed ? index + 1 : index), with: [(place, observed(service))])
        case .gone(let service, let name):
            let (index, isListed) = find(SortingPlace(name: name, service: service))
            if isListed { entries.remove(at: index) }
        // A program cannot use a service that cannot be resolved.
        case .failed, .unresolved: break
        }
    }

    private func observed(_ service: DiscoveredService) -> ObservedService {
        ObservedService(service, trusted?.standing(to: service) ?? .none)
    }

    /// Returns the index of a place, or where to insert it.
    private func find(_ place: SortingPlace) -> (index: Int, isListed: Bool) {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].place < place { low = middle + 1 } else { high = middle }
        }
        return (low, low < entries.count && entries[low].place == place)
    }

    mutating func trust(_ trusted: TrustedServices) {
        self.trusted = trusted
        for index in entries.indices { entries[index].service = observed(entries[index].service.discovered) }
    }

    mutating func removeAll() { entries = [] }
}

extension Listing {
    /// The maximum delay after which a change of the store of trusted services is seen.
    private static let trustInterval = Duration.seconds(1)

    static func follow(_ browser: ElementalBrowser, _ trusted: TrustedServices?, _ inbox: Inbox<Listing>) async {
        async let trust: Void = follow(trusted, inbox)
        do throws(ElementalError) {
            try await Browsing.follow(browser, works: { inbox.put { $0.failure = nil } }) { event in
                inbox.put { listing in
                    switch event {
                    case .began: listing.removeAll()
                    case .service(let event): listing.record(event)
                    case .failed(let error, _): listing.failure = error
                    }
                }
            }
        } catch {
            // The service name is invalid.
            inbox.put { $0.failure = error }
        }
        await trust
    }

    private static func follow(_ trusted: TrustedServices?, _ inbox: Inbox<Listing>) async {
        guard var trusted else { return }
        while !Task.isCancelled {
            // If the store cannot be read, the last content stays in use, and connecting reports the error.
            if (try? await trusted.update()) == true { inbox.put { $0.trust(trusted) } }
            await Delay.wait(trustInterval)
        }
    }
}
