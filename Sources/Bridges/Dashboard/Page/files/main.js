// The page: services in a list, the open ones as cards, live by one connection to the dashboard.

import { Card } from "./card.js";
import { announce, make, setText } from "./dom.js";
import { Link } from "./link.js";
import { ServiceList } from "./services.js";
import { Store } from "./store.js";
import { toNumber } from "./values.js";

const TOKEN = "elemental.token";
const OPEN = "elemental.open";

// What the browser remembers for this tab; it may be forbidden to.
function memory(name, value) {
	try {
		if (value !== undefined) sessionStorage.setItem(name, value);
		return sessionStorage.getItem(name);
	} catch {
		return null;
	}
}

const byId = (id) => document.getElementById(id);

class Page {
	hello = {};
	isLinked = false;
	#open = new Set();
	#hasChosen = false;
	#cards = new Map();
	#notices = new Map();

	constructor() {
		this.readAddress();
		const remembered = memory(OPEN);
		this.#hasChosen ||= remembered !== null;
		for (const id of JSON.parse(remembered ?? "[]")) this.#open.add(id);
		this.link = new Link({
			onState: (state, text) => this.enter(state, text),
			onMessage: (message) => this.receive(message),
			onBytes: (buffer) => this.receiveBytes(buffer),
		});
		this.store = new Store(this.link);
		this.list = new ServiceList(this);
		window.addEventListener("hashchange", () => {
			if (this.readAddress()) this.link.start(this.token);
			this.showCards();
		});
		this.showCards();
		this.link.start(this.token ?? memory(TOKEN));
	}

	// Takes the token and the services to open from the address, which then shows them no more. Whether there was a token.
	readAddress() {
		const words = new URLSearchParams(location.hash.slice(1));
		const token = words.get("token");
		if (token) {
			this.token = token;
			memory(TOKEN, token);
		}
		for (const id of words.getAll("open")) {
			this.#open.add(id);
			this.#hasChosen = true;
		}
		if (token || words.has("open")) history.replaceState(null, "", location.pathname);
		return token !== null;
	}

	isOpen(service) {
		return this.#open.has(service.id);
	}

	toggle(service) {
		if (this.isOpen(service)) {
			this.close(service);
			return;
		}
		this.#open.add(service.id);
		this.#remember();
		const card = this.#cards.get(service.id);
		const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
		card.title.focus({ preventScroll: true });
		card.node.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: window.innerWidth < 900 ? "start" : "nearest" });
	}

	close(service) {
		const hadFocus = this.#cards.get(service.id)?.node.contains(document.activeElement);
		this.#open.delete(service.id);
		service.close();
		this.#remember();
		if (hadFocus) document.querySelector("#list button")?.focus();
	}

	#remember() {
		this.#hasChosen = true;
		memory(OPEN, JSON.stringify([...this.#open]));
		this.showCards();
		this.#ask();
	}

	#ask() {
		const keys = [...this.#open].map((id) => this.store.services.get(id)?.key).filter((key) => typeof key === "number");
		const text = keys.join();
		if (text === this.asked || !this.isLinked) return;
		this.asked = text;
		this.link.send({ t: "open", keys });
	}

	showCards() {
		const cards = byId("cards");
		for (const id of this.#open) {
			if (this.#cards.has(id)) continue;
			const card = new Card(this.store.byId(id), this);
			this.#cards.set(id, card);
			cards.append(card.node);
		}
		for (const [id, card] of this.#cards) {
			if (this.#open.has(id)) continue;
			card.remove();
			this.#cards.delete(id);
		}
		byId("hint").hidden = this.#cards.size > 0 || !this.isLinked;
		this.list.touch();
	}

	enter(state, text) {
		const wasLinked = this.isLinked;
		this.isLinked = state === "open";
		const link = byId("link");
		link.dataset.state = state;
		setText(link, text);
		if (state === "open") {
			this.store.begin();
			this.asked = "";
			this.notice("token", null);
			if (this.wasLost) announce("Connected again.");
			this.wasLost = false;
		} else {
			if (wasLinked) {
				this.store.disconnected();
				announce("Connection to the dashboard lost.");
				this.wasLost = true;
			}
			this.list.complete(false);
			if (state === "token") this.#askForToken(text);
		}
		this.updateAll();
	}

	updateAll() {
		for (const card of this.#cards.values()) card.update();
		this.showCards();
	}

	receive(message) {
		const { store } = this;
		const service = store.byKey(message.key);
		const card = service && this.#cards.get(service.id);
		switch (message.t) {
		case "hello":
			this.hello = message;
			setText(byId("host"), message.host ? `on ${message.host}` : "");
			document.title = message.host ? `Elemental on ${message.host}` : "Elemental";
			this.notice("control", message.control === false ? message.why ?? "This dashboard shows values and does not set them." : null);
			this.updateAll();
			break;
		case "service": {
			const listed = store.list(message);
			if (message.state !== "connected") listed.interrupt(store.now());
			this.#cards.get(listed.id)?.update();
			this.#ask();
			this.list.touch();
			break;
		}
		case "listed":
			this.list.complete(true);
			this.#openOnly();
			this.updateAll();
			break;
		case "gone":
			store.unlist(message.key);
			service?.interrupt(store.now());
			card?.update();
			this.list.touch();
			this.#ask();
			break;
		case "notice":
			this.notice("network", message.text);
			break;
		case "catalogue":
			if (!card) break;
			for (const element of message.elements) element.range = element.range?.map(toNumber);
			// Values of another catalogue are of other types; its own follow.
			if (JSON.stringify(service.elements) !== JSON.stringify(message.elements)) service.forgetValues();
			service.elements = message.elements;
			card.showCatalogue();
			break;
		case "values": {
			const time = store.timeOf(message.c);
			for (const [key, values] of Object.entries(message.v)) this.#receiveValues(Number(key), values, time);
			break;
		}
		case "quality":
			for (const [key, quality] of Object.entries(message.q)) {
				const open = this.#cards.get(store.byKey(Number(key))?.id);
				if (open) open.service.quality = quality;
				open?.updateQuality();
			}
			break;
		case "refused":
			card?.refuse(message.id, message.why);
			break;
		case "paired":
		case "notPaired":
			store.answer(message);
			break;
		case "bye":
			setText(byId("link"), message.why ?? "The dashboard ends");
			break;
		}
	}

	// Data: a byte 1, the service's key in four bytes, the element's identifier, and what it holds.
	receiveBytes(buffer) {
		if (buffer.byteLength < 6) return;
		const view = new DataView(buffer);
		const card = this.#cards.get(this.store.byKey(view.getUint32(1, true))?.id);
		if (view.getUint8(0) !== 1 || !card) return;
		const bytes = new Uint8Array(buffer, 6);
		card.service.pictures.set(view.getInt8(5), bytes);
		card.receiveBytes(view.getInt8(5), bytes);
	}

	notice(kind, text, node = make("p", { class: "box", text })) {
		this.#notices.get(kind)?.remove();
		this.#notices.delete(kind);
		if (!text) return;
		this.#notices.set(kind, node);
		byId("notices").append(node);
	}

	#receiveValues(key, values, time) {
		const service = this.store.byKey(key);
		const card = this.#cards.get(service?.id);
		if (!card) return;
		for (const [text, value] of Object.entries(values)) {
			const id = Number(text);
			if (value === null) {
				service.values.delete(id);
				service.pictures.delete(id);
				card.forget(id);
				continue;
			}
			if (value.bytes !== undefined) {
				card.tellLength(id, value.bytes);
				continue;
			}
			const isFirst = !service.values.has(id);
			service.values.set(id, value);
			service.record(id, value, time);
			card.receive(id, value, isFirst);
		}
	}

	#openOnly() {
		if (this.#hasChosen) return;
		this.#hasChosen = true;
		const listed = [...this.store.services.values()].filter((service) => service.isListed);
		if (listed.length !== 1) return;
		this.#open.add(listed[0].id);
		this.showCards();
		this.#ask();
	}

	#askForToken(why) {
		announce(`${why}. This dashboard wants its token.`);
		if (this.#notices.has("token")) return;
		const input = make("input", { type: "password", id: "token", autocomplete: "off" });
		const form = make("form", { class: "box token" },
			make("p", { text: "This dashboard wants its token. Open the address or scan the code that it printed, or type the token:" }),
			make("div", { class: "pair-row" }, make("label", { for: "token", text: "Token" }), input, make("button", { class: "tool primary", type: "submit", text: "Enter" })));
		form.onsubmit = (event) => {
			event.preventDefault();
			const token = input.value.trim();
			if (!token) return;
			memory(TOKEN, token);
			input.value = "";
			this.link.start(token);
		};
		this.notice("token", "token", form);
	}
}

new Page();
