// Where a service is, how well it is connected, and its elements' numbers.

import { make, setText } from "./dom.js";

const fixed = (number) => (number < 10 ? number.toFixed(1) : number.toFixed(0));
const ACCESS = { ro: "read", wo: "set", rw: "read and set" };
const ROLES = { plain: "not paired", observe: "paired, to observe", control: "paired, to control", admin: "paired, as administrator" };

export class Details {
	#facts = new Map();
	#isLive = false;

	constructor(service) {
		this.service = service;
		this.node = make("details", { class: "details" }, make("summary", { text: "About this service" }));
		this.node.ontoggle = () => this.#open();
	}

	// Built when it is first opened, so that the panel opens fast.
	#open() {
		if (this.list) return this.tellQuality();
		this.list = make("dl", { class: "facts-list" });
		this.rows = make("tbody");
		const head = ["No.", "Element", "Type", "Transport", "Access"].map((text) => make("th", { scope: "col", text }));
		const table = make("table", { class: "elements-table" }, make("thead", {}, make("tr", {}, ...head)), this.rows);
		this.node.append(this.list, make("div", { class: "table-frame", role: "region", "aria-label": "Elements", tabindex: "0" }, table));
		this.update(this.#isLive);
		this.showElements();
	}

	update(isLive) {
		this.#isLive = isLive;
		if (!this.list) return;
		const { info } = this.service;
		const { service, host, port, encrypted, role } = info ?? {};
		this.#tell("Service", service);
		this.#tell("Address", host && (port ? `${host}:${port}` : host));
		this.#tell("Connection", isLive ? [encrypted ? "encrypted" : "not encrypted", ROLES[role]].filter(Boolean).join(", ") : null);
		this.tellQuality();
	}

	tellQuality() {
		// It is open before it is built.
		if (!this.list || !this.node.open) return;
		const { rtt, in: received, out: sent, lost } = (this.#isLive && this.service.quality) || {};
		this.#tell("Round trip", typeof rtt === "number" ? `${fixed(rtt)} ms` : null);
		this.#tell("Values received", received === undefined ? null : `${fixed(received)} a second`);
		this.#tell("Values sent", sent === undefined ? null : `${fixed(sent)} a second`);
		this.#tell("Values lost or replaced", lost === undefined ? null : String(lost));
	}

	showElements() {
		this.rows?.replaceChildren(...(this.service.elements ?? []).map((element) => make("tr", {},
			...[element.id, element.name, element.type, element.transport.toUpperCase(), ACCESS[element.access]].map((text) => make("td", { text: String(text) })))));
	}

	#tell(name, text) {
		let fact = this.#facts.get(name);
		if (!fact) {
			if (!text) return;
			fact = { value: make("dd"), node: make("div") };
			fact.node.append(make("dt", { text: name }), fact.value);
			this.#facts.set(name, fact);
			this.list.append(fact.node);
		}
		fact.node.hidden = !text;
		setText(fact.value, text ?? "");
	}
}
