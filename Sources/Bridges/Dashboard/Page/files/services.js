// The list of services: a button each, which opens and closes it.

import { button, icon, make, setText, span } from "./dom.js";
import { nextFrame } from "./frame.js";

const SECURITY = { "open": "open to all", "paired-to-control": "paired to control", "paired": "paired only" };
const STATES = {
	connecting: "Connecting…", away: "Away", notPaired: "Needs pairing", identityChanged: "Key changed", refused: "Refused",
};

export const securityText = (security) => SECURITY[security] ?? "";

export class ServiceList {
	#items = new Map();
	#isListed = false;
	#update = () => this.#show();

	constructor(page) {
		this.page = page;
		this.list = document.getElementById("list");
		this.none = document.getElementById("none");
	}

	touch() {
		nextFrame(this.#update);
	}

	// Whether the dashboard has told all services that it knew.
	complete(isListed) {
		this.#isListed = isListed;
		this.touch();
	}

	#show() {
		const { store, isLinked } = this.page;
		const listed = [...store.services.values()].filter((service) => service.isListed || (service.info && this.page.isOpen(service)));
		listed.sort((one, other) => one.info.name.localeCompare(other.info.name) || one.id.localeCompare(other.id));
		const items = listed.map((service) => this.#item(service));
		if (items.length !== this.list.children.length || items.some((item, index) => this.list.children[index] !== item.node)) {
			const active = document.activeElement;
			this.list.replaceChildren(...items.map((item) => item.node));
			if (active && this.list.contains(active)) active.focus({ preventScroll: true });
		}
		for (const id of this.#items.keys()) if (!listed.some((service) => service.id === id)) this.#items.delete(id);
		this.none.hidden = listed.length > 0;
		setText(this.none, !isLinked ? "" : this.#isListed ? "No services on this network yet. They appear here by themselves." : "Looking for services…");
	}

	#item(service) {
		let item = this.#items.get(service.id);
		if (!item) {
			item = {
				name: span("item-name"), place: span("item-place"), state: span("item-state"),
				lock: span("lock", undefined, icon("lock"), span("aside", "encrypted")),
				button: button("item", undefined, () => this.page.toggle(service)),
			};
			item.button.append(span("mark"), span("item-text", undefined, item.name, item.place, item.state), item.lock);
			item.node = make("li", {}, item.button);
			this.#items.set(service.id, item);
		}
		const { info } = service;
		setText(item.name, info.name);
		setText(item.place, [info.service, info.host, securityText(info.security)].filter((text) => text && text !== info.name).join(" · "));
		const state = !service.isListed ? (this.page.isLinked ? "Not on the network" : "") : STATES[info.state] ?? "";
		setText(item.state, state);
		item.state.hidden = state === "";
		item.lock.hidden = !info.encrypted;
		item.button.dataset.state = service.isListed ? info.state : "away";
		item.button.setAttribute("aria-pressed", this.page.isOpen(service));
		return item;
	}
}
