import ElementalFollowing
import NIOCore
import NIOPosix
import Support

/// What a browser has found so far, and how the client stands to it.
///
/// It is sorted as it grows, off the main actor: a network may be full of services that nobody needs. A browser lists 4096
/// at most.
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
        // It is not there for a program until it can be resolved.
        case .failed, .unresolved: break
        }
    }

    private func observed(_ service: DiscoveredService) -> ObservedService {
        ObservedService(service, trusted?.standing(to: service) ?? .none)
    }

    /// Where it is listed, or belongs.
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
    /// How long after the store of trusted services has changed that is seen at the latest.
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
            // The name is not that of a service.
            inbox.put { $0.failure = error }
        }
        await trust
    }

    private static func follow(_ trusted: TrustedServices?, _ inbox: Inbox<Listing>) async {
        guard var trusted else { return }
        while !Task.isCancelled {
            // Nobody is trusted by a store that cannot be read: then what was read last stands, and connecting tells why.
            if (try? await trusted.update()) == true { inbox.put { $0.trust(trusted) } }
            await Delay.wait(trustInterval)
        }
    }
}
