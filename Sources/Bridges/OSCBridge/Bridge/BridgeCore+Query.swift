import Elemental

extension BridgeCore {
    /// What is at an address: a copy as of now, which costs little.
    func node(at path: String) -> QueryTree.Node? {
        if path == "/" { return .root(services.values.map { QueryTree.Service($0) }) }
        if let place = addresses[path] { return .element(QueryTree.Service(place.service), place.position) }
        return levels[String(path.dropFirst())].map { .service(QueryTree.Service($0)) }
    }
}

extension QueryTree.Service {
    init(_ service: BridgedService) {
        level = service.level
        description = service.key.description
        elements = service.elements
        readings = service.known.readings
    }
}
