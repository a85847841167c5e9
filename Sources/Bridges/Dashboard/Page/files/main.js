// The page: the list of services and the open one, live by one connection to the dashboard.

import { addressOf, readAddress } from "./address.js";
import { Controller } from "./controller.js";
import { announce, make, setText } from "./dom.js";
import { nextFrame } from "./frame.js";
import { Link } from "./link.js";
import * as memory from "./memory.js";
import { Panel } from "./panel.js";
import { ServiceList } from "./services.js";
import { clock } from "./states.js";
import { Store } from "./store.js";
import { toNumber } from "./values.js";

const byId = (id) => document.getElementById(id);

class Page {
	hello = {};
	isLinked = false;
	// When the connection to the dashboard was lost, as Date.now() has it; 0 while there is none to lose.
	lostAt = 0;
	// The open service's identifier, and the words that are searched.
	openId = null;
	find = "";
	notices = new Map();
	#panel = null;
	#controller = null;
	#asked = "";
	#scroll = 0;
	#narrow = window.matchMedia("(max-width: 55.99rem)");

	constructor() {
		this.link = new Link({
			onState: (state, text) => this.enter(state, text),
			onMessage: (message) => this.receive(message),
			onBytes: (buffer) => this.receiveBytes(buffer),
		});
		this.store = new Store(this.link);
		this.list = new ServiceList(this);
		const token = this.#readToken();
		this.#search();
		window.addEventListener("popstate", () => {
			const changed = this.#readToken();
			if (changed) this.link.start(changed);
			this.show();
		});
		this.#narrow.onchange = () => {
			this.list.touch();
			this.#ask();
		};
		this.show();
		this.link.start(token ?? memory.token());
	}

	// The token of an address that the dashboard printed; the address then shows it no more.
	#readToken() {
		const { token } = readAddress();
		if (!token) return null;
		memory.token(token);
		history.replaceState(null, "", location.pathname);
		return token;
	}

	#search() {
		const field = byId("find");
		field.oninput = () => {
			this.find = field.value.trim();
			history.replaceState(history.state, "", addressOf(this.openId, this.find));
			this.list.touch();
		};
		field.onkeydown = (event) => {
			if (event.key === "Escape" && field.value) {
				field.value = "";
				field.oninput();
			} else if (event.key === "Enter" || event.key === "ArrowDown") {
				event.preventDefault();
				document.querySelector("#list a")?.[event.key === "Enter" ? "click" : "focus"]();
			}
		};
		document.addEventListener("keydown", (event) => {
			if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
			event.preventDefault();
			if (this.openId !== null && this.#narrow.matches) this.goBack();
			field.focus();
		});
	}

	// Opens a service, which the browser's button for going back closes again.
	go(id) {
		if (id === this.openId) {
			this.#panel.title.focus();
			return;
		}
		if (this.openId === null) this.#scroll = window.scrollY;
		history.pushState({ isFromList: true }, "", addressOf(id, this.find));
		this.show();
		// With the frame: before it, both would lay the page out once more.
		nextFrame(() => {
			this.#panel?.title.focus({ preventScroll: true });
			if (this.#narrow.matches) window.scrollTo(0, 0);
		});
	}

	goBack() {
		if (history.state?.isFromList) history.back();
		else {
			history.replaceState(null, "", addressOf(null, this.find));
			this.show();
		}
	}

	// Shows what the address says.
	show() {
		const { id, find, isController } = readAddress();
		const before = this.openId;
		this.openId = id;
		this.find = find;
		if (byId("find").value.trim() !== find) byId("find").value = find;
		document.body.dataset.screen = isController ? "controller" : id === null ? "list" : "service";
		this.#control(isController);
		if (id !== before) this.#open(before);
		this.#title();
		this.list.touch();
		this.#ask();
	}

	#control(isController) {
		if (isController === (this.#controller !== null)) return;
		this.#controller?.remove();
		this.#controller = isController ? new Controller(this) : null;
		if (!isController) return;
		byId("panel").append(this.#controller.node);
		this.#controller.title.focus({ preventScroll: true });
	}

	#open(before) {
		this.#panel?.remove();
		this.#panel = null;
		if (before !== null) this.store.byId(before).close();
		if (this.openId !== null) {
			this.#panel = new Panel(this.store.byId(this.openId), this);
			byId("panel").append(this.#panel.node);
		} else if (this.#narrow.matches) {
			window.scrollTo(0, this.#scroll);
			// Once it is up to date.
			nextFrame(() => nextFrame(() => this.list.focus(before)));
		}
		this.#showHint();
	}

	// The first panel takes several times as long as later ones, so one is built ahead of time and removed.
	#rehearse() {
		const [service] = this.list.listed;
		if (!service || document.body.dataset.screen !== "list" || window.scrollY) return;
		const panel = new Panel(service, this);
		byId("panel").append(panel.node);
		document.body.dataset.screen = "service";
		panel.title.getBoundingClientRect();
		document.body.dataset.screen = "list";
		panel.remove();
	}

	#showHint() {
		byId("hint").hidden = this.openId !== null || this.#controller !== null || !this.isLinked;
	}

	#title() {
		const { host } = this.hello;
		const name = this.#controller ? "Controller · " : this.openId === null ? "" : `${this.store.byId(this.openId).name} · `;
		document.title = `${name}Elemental${host ? ` on ${host}` : ""}`;
	}

	// Beside the open service there may be no room for it.
	get showsList() {
		return this.#controller === null && (this.openId === null || !this.#narrow.matches);
	}

	// Tells the dashboard what the page shows.
	#ask() {
		if (!this.isLinked) return;
		const key = this.store.services.get(this.openId)?.key;
		const keys = typeof key === "number" ? [key] : [];
		const isListing = this.showsList;
		const asked = `${keys} ${isListing}`;
		if (asked === this.#asked) return;
		this.#asked = asked;
		this.link.send({ t: "open", keys });
		this.link.send({ t: "list", on: isListing });
	}

	enter(state, text) {
		const wasLinked = this.isLinked;
		this.isLinked = state === "open";
		if (state === "open") {
			this.store.begin();
			this.#asked = "";
			if (this.lostAt) announce("Connected again.");
			this.lostAt = 0;
			for (const kind of ["token", "lost", "discovery", "excess"]) this.notice(kind, null);
		} else {
			if (wasLinked) {
				this.lostAt = Date.now();
				this.store.disconnected();
				this.notice("lost", `The dashboard has not answered since ${clock(this.lostAt)}. Values are the last ones. This page tries again by itself.`);
				announce("Connection to the dashboard lost.");
			}
			this.list.complete(false);
			if (state === "token") this.#askForToken(text);
		}
		this.#showLink(state, text);
		this.updateAll();
	}

	#showLink(state, text) {
		const link = byId("link");
		const isBlind = state === "open" && this.notices.has("discovery");
		link.dataset.state = state;
		link.classList.toggle("blind", isBlind);
		setText(link, isBlind ? "No discovery" : text);
	}

	updateAll() {
		this.#panel?.update();
		this.#showHint();
		this.list.touch();
	}

	// The panel of a service, if it is the open one.
	#panelOf(service) {
		return service && service.id === this.openId ? this.#panel : null;
	}

	receive(message) {
		const { store } = this;
		const service = store.byKey(message.key);
		const panel = this.#panelOf(service);
		switch (message.t) {
		case "hello":
			this.hello = message;
			setText(byId("host"), message.host ? `on ${message.host}` : "");
			this.#title();
			this.notice("control", message.control === false ? message.why ?? "This dashboard shows values and does not set them." : null);
			this.updateAll();
			break;
		case "service": {
			const listed = store.list(message);
			if (message.state !== "connected") listed.interrupt(store.now());
			this.#panelOf(listed)?.update();
			this.#ask();
			this.list.touch();
			break;
		}
		case "listed":
			this.list.complete(true);
			this.#begin();
			this.updateAll();
			break;
		case "gone":
			store.unlist(message.key);
			service?.interrupt(store.now());
			panel?.update();
			this.list.touch();
			this.#ask();
			break;
		case "notice":
			this.notice(message.kind, message.text && `${message.kind === "discovery" ? "Services cannot be found: " : ""}${message.text}.`);
			this.#showLink(this.link.state, "Live");
			this.list.touch();
			break;
		case "catalogue":
			if (!panel) break;
			for (const element of message.elements) element.range = element.range?.map(toNumber);
			// Values of another catalogue are of other types; its own follow.
			if (JSON.stringify(service.elements) !== JSON.stringify(message.elements)) service.forgetValues();
			service.elements = message.elements;
			panel.showCatalogue();
			break;
		case "values": {
			const time = store.timeOf(message.c);
			for (const [key, values] of Object.entries(message.v)) this.#receiveValues(key, values, time, message.a);
			break;
		}
		case "past":
			service?.fill(message, store.timeOf(message.c));
			panel?.touch(message.id);
			break;
		case "telling":
			for (const [key, values] of Object.entries(message.v)) store.byKey(Number(key))?.takeTelling(values);
			this.list.touch();
			break;
		case "quality":
			for (const [key, quality] of Object.entries(message.q)) {
				const open = this.#panelOf(store.byKey(Number(key)));
				if (open) open.service.quality = quality;
				open?.updateQuality();
			}
			break;
		case "refused":
			panel?.refuse(message.id, message.why);
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
		const panel = this.#panelOf(this.store.byKey(view.getUint32(1, true)));
		if (view.getUint8(0) !== 1 || !panel) return;
		const bytes = new Uint8Array(buffer, 6);
		panel.service.pictures.set(view.getInt8(5), bytes);
		panel.receiveBytes(view.getInt8(5), bytes);
	}

	notice(kind, text, node = make("p", { class: "box", text })) {
		const known = this.notices.get(kind);
		if (known && text && known.textContent === text) return;
		known?.remove();
		this.notices.delete(kind);
		if (!text) return;
		this.notices.set(kind, node);
		byId("notices").append(node);
	}

	#receiveValues(key, values, time, ages) {
		const service = this.store.byKey(Number(key));
		const panel = this.#panelOf(service);
		if (!panel) return;
		for (const [text, value] of Object.entries(values)) {
			const id = Number(text);
			if (value === null) {
				service.values.delete(id);
				service.pictures.delete(id);
				panel.forget(id);
				continue;
			}
			if (value.bytes !== undefined) {
				panel.tellLength(id, value.bytes);
				continue;
			}
			const isFirst = !service.values.has(id);
			service.values.set(id, value);
			service.record(id, value, time - (ages?.[`${key}/${id}`] ?? 0));
			panel.receive(id, value, isFirst);
		}
	}

	// With the first whole list. A service that is alone is opened.
	#begin() {
		if (this.hasBegun) return;
		this.hasBegun = true;
		setTimeout(() => this.#rehearse(), 300);
		const listed = this.list.listed.filter(({ isListed }) => isListed);
		if (this.openId !== null || this.#controller || this.find || listed.length !== 1) return;
		history.replaceState(null, "", addressOf(listed[0].id));
		this.show();
	}

	#askForToken(why) {
		announce(`${why}. This dashboard wants its token.`);
		if (this.notices.has("token")) return;
		const input = make("input", { type: "password", id: "token", autocomplete: "off" });
		const form = make("form", { class: "box token" },
			make("p", { text: "This dashboard wants its token. Open the address or scan the code that it printed, or type the token:" }),
			make("div", { class: "pair-row" }, make("label", { for: "token", text: "Token" }), input, make("button", { class: "tool primary", type: "submit", text: "Enter" })));
		form.onsubmit = (event) => {
			event.preventDefault();
			const token = input.value.trim();
			if (!token) return;
			memory.token(token);
			input.value = "";
			this.link.start(token);
		};
		this.notice("token", "token", form);
	}
}

new Page();
