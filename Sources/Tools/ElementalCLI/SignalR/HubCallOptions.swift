import ArgumentParser

struct HubCallOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The hub's address, as in http://localhost:5000/chat.", valueName: "url"))
    var url: String

    @Argument(help: ArgumentHelp("The hub's method.", valueName: "method"))
    var method: String

    @Argument(
        help: ArgumentHelp("The method's arguments, as JSON or plain text.", valueName: "argument"),
        transform: HubArgument.init(parsing:))
    var arguments: [HubArgument] = []

    func validate() throws {
        try HubOptions.check(url: url)
        if method.isEmpty { throw ValidationError("METHOD is empty; give the name of a method of the hub") }
    }
}
