// The page's address: #/SERVICE/NAME for an open service, #/controller, and ?find=WORDS for the search.

// What the part behind # says: { id, find, token, isController }; `id` is null where the list is shown.
export function readAddress(hash = location.hash) {
	const text = hash.slice(1);
	if (!text.startsWith("/")) return { id: null, find: "", token: new URLSearchParams(text).get("token") };
	const [path, query = ""] = text.slice(1).split("?");
	const [service, ...name] = path.split("/");
	let id = null;
	try {
		if (name.length) id = `${decodeURIComponent(service)}/${decodeURIComponent(name.join("/"))}`;
	} catch {
		// Not an address of this page: the list is shown.
	}
	return { id, find: new URLSearchParams(query).get("find") ?? "", token: null, isController: hash === "#/controller" };
}

// The address of the list (`id` is null) or of a service, with the search.
export function addressOf(id, find = "") {
	const [service, ...name] = id?.split("/") ?? [];
	const path = id === null ? "" : `${encodeURIComponent(service)}/${encodeURIComponent(name.join("/"))}`;
	return `#/${path}${find ? `?${new URLSearchParams({ find })}` : ""}`;
}
