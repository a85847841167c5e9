// How a service is, in words: short for the list, and as a sentence that says what to do.

export const clock = (time) => new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

// `page` has isLinked. Returns { kind, short, sentence }: `kind` is for colours, the others are empty where all is well and
// where a notice says it for all services.
export function stateOf(service, page) {
	const { info, isListed, since } = service;
	// What had gone before the dashboard was lost is not there either way.
	if (!page.isLinked && (isListed || !info)) return state("stale", "", "");
	if (!isListed) {
		const when = service.leftAt ? ` since ${clock(service.leftAt)}` : "";
		return state("away", `Gone${when}`, `Gone${when}.${service.elements ? " These are its last values." : ""} It can be used again when it is back.`);
	}
	switch (info.state) {
	case "connecting": return state("connecting", "Connecting…", "Connecting…");
	case "away": return state("away", `Away since ${clock(since)}`, `${sentence(info.why ?? "Away")}${info.canPair ? "" : " This page goes on when it is back."}`);
	case "refused": return state("refused", "Refused", sentence(info.why ?? "The service refused the connection"));
	case "notPaired": return state("notPaired", "Needs pairing", "This service answers paired devices only.");
	case "identityChanged": return state("identityChanged", "Key changed", "Another device answers under this name.");
	default: return state("connected", "", "");
	}
}

const state = (kind, short, sentence) => ({ kind, short, sentence });

// What this page may do with a service that is connected, and who can listen.
export function accessOf({ security, role, encrypted, canPair }) {
	const access = security === "open" ? "Open to everybody on this network"
		: role === "control" || role === "admin" ? "This dashboard is paired"
		: canPair || role === "observe" ? "You can watch it; setting it needs pairing"
		: "";
	return [encrypted ? "Encrypted" : "Not encrypted", access].filter(Boolean).join(" · ");
}

export function sentence(text) {
	if (!text) return "";
	return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".");
}
