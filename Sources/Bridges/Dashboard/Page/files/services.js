// The list of services: a link each, with what tells most of it. Favourites come first.

import { addressOf } from "./address.js";
import { icon, make, setChildren, setText, span } from "./dom.js";
import { nextFrame } from "./frame.js";
import { favourites } from "./memory.js";
import { stateOf } from "./states.js";
import { inWords } from "./values.js";

// How long the list shows a service that has left, in milliseconds.
const KEPT = 600_000;
// 2 comes before 10.
const names = new Intl.Collator([], { numeric: true, sensitivity: "base" });

export class ServiceList {
	#items = new Map();
	#isListed = false;
	#update = () => this.#show();

	// `page` has store, hello, find (the words that are searched), notices, showsList, stateOf's properties and go(id).
	constructor(page) {
		this.page = page;
		this.list = document.getElementById("list");
		this.none = document.getElementById("none");
		this.here = span("quiet");
		this.gone = make("a", { class: "gone" });
		document.getElementById("count").append(this.here, this.gone);
		this.list.onkeydown = (event) => this.#move(event);
		// A slow phone tells the touch before it opens. A finger is out when it leaves the screen or scrolls.
		this.list.onpointerdown = this.list.onpointerout = ({ target, type }) => target.closest("a")?.classList.toggle("touched", type === "pointerdown");
	}

	touch() {
		nextFrame(this.#update);
	}

	// Whether the dashboard has told all services that it knew.
	complete(isListed) {
		this.#isListed = isListed;
		this.touch();
	}

	// What is on the network, and what has left it lately, is a favourite or is open.
	get listed() {
		const lately = Date.now() - KEPT;
		return [...this.page.store.services.values()].filter((service) => service.isListed
			|| (service.info && (service.leftAt > lately || service.id === this.page.openId || favourites.has(service.id))));
	}

	focus(id) {
		this.#items.get(id)?.link.focus();
	}

	#show() {
		// Its work would delay what opens instead of it.
		if (!this.page.showsList) return;
		const words = this.page.find.toLowerCase().split(/\s+/).filter(Boolean);
		const all = this.listed;
		const found = words.length ? all.filter((service) => this.#hasAll(service, words)) : all;
		found.sort((one, other) => favourites.has(other.id) - favourites.has(one.id)
			|| names.compare(one.info.name, other.info.name) || names.compare(one.id, other.id));
		const hasHosts = new Set(all.map((service) => service.info.host)).size > 1;
		const items = found.map((service) => this.#item(service, hasHosts));
		setChildren(this.list, items.map((item) => item.node));
		const ids = new Set(all.map((service) => service.id));
		for (const id of this.#items.keys()) if (!ids.has(id)) this.#items.delete(id);
		this.none.hidden = found.length > 0;
		if (!this.none.hidden) this.#tellNone(all.length > 0);
		this.#count(all, found);
	}

	// "gone" and "needs pairing" are found too.
	#hasAll(service, words) {
		const text = `${service.words} ${stateOf(service, this.page).short.toLowerCase()}`;
		return words.every((word) => text.includes(word));
	}

	#count(all, found) {
		const gone = this.page.isLinked && this.#isListed ? all.filter((service) => !service.isListed).length : 0;
		const isPart = found.length < all.length;
		setText(this.here, isPart ? `${found.length} of ${all.length}` : gone || !all.length ? "" : all.length === 1 ? "1 service" : `${all.length} services`);
		setText(this.gone, `${gone} gone`);
		this.gone.href = addressOf(this.page.openId, "gone");
		this.gone.hidden = !gone || isPart;
	}

	#tellNone(isFiltered) {
		const { isLinked, hello, notices, find } = this.page;
		const targets = hello.targets ?? [];
		const texts = isFiltered ? [`Nothing found for “${find}”.`]
			: !isLinked ? []
			: notices.has("discovery") ? ["Services cannot be found now; what to do is said above. This page looks again by itself."]
			: !this.#isListed ? ["Looking for services…"]
			: targets.length ? [`This dashboard was started for ${targets.join(", ")} alone.`, "Nothing of that name is on the network yet. It appears here when it is."]
			: ["No services on this network yet.", "They appear here when they are published."];
		const text = texts.join("\n");
		if (this.none.dataset.text === text) return;
		this.none.dataset.text = text;
		this.none.replaceChildren(...texts.map((each) => make("p", { text: each })));
	}

	#item(service, hasHosts) {
		let item = this.#items.get(service.id);
		if (!item) {
			item = {
				name: span("item-name"), star: span("star", undefined, icon("star"), span("aside", "favourite")),
				place: span("item-place"), facts: span("facts"), parts: new Map(),
				link: make("a", { class: "item", onclick: (event) => this.#open(event, service) }),
			};
			item.link.append(span("mark"), span("item-text", undefined, span("item-head", undefined, item.name, item.star), item.place, item.facts));
			item.node = make("li", {}, item.link);
			this.#items.set(service.id, item);
		}
		const { info } = service;
		const { kind, short } = stateOf(service, this.page);
		setText(item.name, info.name);
		setText(item.place, short || [info.service, hasHosts && info.host].filter((text) => text && text !== info.name).join(" · "));
		item.star.hidden = !favourites.has(service.id);
		item.link.dataset.state = kind;
		const address = addressOf(service.id, this.page.find);
		if (item.link.getAttribute("href") !== address) item.link.setAttribute("href", address);
		if (service.id === this.page.openId) item.link.setAttribute("aria-current", "page");
		else item.link.removeAttribute("aria-current");
		this.#tell(item, service);
		return item;
	}

	// The telling values: each with its element's name.
	#tell(item, service) {
		// An emergency stop comes first, and tells something while it is on.
		const known = ["connected", "connecting", "away"].includes(service.info.state)
			? service.info.telling.filter(({ id, kind }) => (kind === "urgent" ? service.telling.get(id) === true : service.telling.has(id))) : [];
		const shown = known.slice(0, known[0]?.kind === "urgent" ? 4 : 3);
		const ids = shown.map(({ id, name }) => `${id} ${name}`).join();
		if (ids !== item.ids) {
			item.ids = ids;
			item.parts = new Map(shown.map((element) => [element.id, make("b")]));
			item.facts.replaceChildren(...shown.map((element) => span("fact", undefined, `${element.name} `, item.parts.get(element.id))));
		}
		for (const element of shown) {
			const part = item.parts.get(element.id);
			part.classList.toggle("stopped", element.kind === "urgent");
			setText(part, inWords(element, service.telling.get(element.id), service.decimals(element)));
		}
		item.facts.hidden = shown.length === 0;
	}

	#open(event, service) {
		// A new tab or window is the browser's.
		if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
		event.preventDefault();
		this.page.go(service.id);
	}

	#move(event) {
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
		if (!step) return;
		event.preventDefault();
		const links = [...this.list.querySelectorAll("a")];
		links[links.indexOf(document.activeElement) + step]?.focus();
	}
}
