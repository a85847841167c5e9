// An open service: its state, the quality of its connection, its pairing and its elements.

import { CommodorePanel, belongsToPanel, isCommodore } from "./commodore.js";
import { makeControl } from "./controls.js";
import { announce, button, icon, make, setText, uniqueId } from "./dom.js";
import { nextFrame } from "./frame.js";
import { Reading } from "./reading.js";
import { PairingForm } from "./pairing.js";
import { securityText } from "./services.js";
import { sizeText } from "./values.js";

const fixed = (number) => (number < 10 ? number.toFixed(1) : number.toFixed(0));

export class Card {
	#parts = new Map();
	#catalogue = "";
	#focused = null;
	#panel = null;
	#tellQuality = () => this.#showQuality();

	// `page` has store, hello (what the dashboard allows), isLinked, and close(service).
	constructor(service, page) {
		this.service = service;
		this.page = page;
		const id = uniqueId("service");
		this.title = make("h3", { id, tabindex: "-1" });
		this.meta = make("p", { class: "meta quiet" });
		this.quality = make("p", { class: "quality quiet" });
		this.close = button("round", undefined, () => page.close(service));
		this.close.append(icon("close"));
		this.state = make("div", { class: "card-state" });
		this.body = make("div", { class: "body" });
		this.pairing = new PairingForm(service, page);
		this.node = make("article", { class: "card", "aria-labelledby": id },
			make("header", { class: "card-head" }, make("div", { class: "card-title" }, this.title, this.meta, this.quality), this.close),
			this.state, this.pairing.node, this.body);
		this.node.dataset.service = service.id;
		this.update();
		if (service.elements) this.showCatalogue();
	}

	remove() {
		for (const part of this.#parts.values()) part.remove?.();
		this.#panel?.remove();
		this.node.remove();
	}

	update() {
		const { info, isListed, id } = this.service;
		const name = info?.name ?? id.slice(id.indexOf("/") + 1);
		setText(this.title, name);
		this.close.setAttribute("aria-label", `Close ${name}`);
		const { service: type, host, port, security, encrypted, role, state } = info ?? {};
		const place = host && `${host}${port ? `:${port}` : ""}`;
		setText(this.meta, [type, place !== name && place, securityText(security), encrypted ? "encrypted" : state === "connected" && "not encrypted",
			role && role !== "plain" && `role ${role}`].filter(Boolean).join(" · "));
		this.#showState(info, isListed);
		this.pairing.update();
		this.#enable();
		this.#showQuality();
	}

	// Makes the elements' controls anew if the catalogue is another one.
	showCatalogue() {
		const { elements } = this.service;
		const catalogue = JSON.stringify(elements);
		if (catalogue === this.#catalogue) return;
		this.#catalogue = catalogue;
		for (const part of this.#parts.values()) part.remove?.();
		this.#panel?.remove();
		this.#panel = null;
		this.#parts.clear();
		const sender = (element) => (value) => this.page.store.set(this.service, element, value);
		const groups = [];
		let rest = elements;
		if (isCommodore(elements)) {
			this.#panel = new CommodorePanel(elements, sender);
			rest = elements.filter((element) => !belongsToPanel(element));
			for (const [id, control] of this.#panel.controls) this.#parts.set(id, control);
			groups.push(this.#panel.node);
		}
		const controls = [];
		const readings = [];
		for (const element of rest) {
			(element.settable ? controls : readings).push(this.#make(element));
		}
		if (controls.length) groups.push(group("Controls", controls));
		if (readings.length) groups.push(group("Readings", readings));
		if (!elements.length) groups.push(make("p", { class: "quiet", text: "This service has no elements." }));
		this.body.replaceChildren(...groups);
		for (const [id, value] of this.service.values) this.receive(id, value, true);
		for (const [id, bytes] of this.service.pictures) this.receiveBytes(id, bytes);
		this.#enable();
	}

	#make(element) {
		const control = element.settable ? makeControl(element, (value) => this.page.store.set(this.service, element, value)) : null;
		const part = control ?? new Reading(element, this.service, this.page.store.now);
		this.#parts.set(element.id, part);
		return part;
	}

	// The element's value is too long for a page: how many bytes it has.
	tellLength(id, bytes) {
		const part = this.#parts.get(id);
		const text = `${sizeText(bytes)}, too long for this page`;
		if (part?.tell) part.tell(text);
		else if (part?.picture) part.picture.tell(text);
		else part?.receive(text);
	}

	// The element has no value any more.
	forget(id) {
		const element = this.service.elements?.find((each) => each.id === id);
		const old = this.#parts.get(id);
		if (!element || !old || this.#panel?.controls.has(id)) return;
		old.remove?.();
		old.node.replaceWith(this.#make(element).node);
		this.#enable();
	}

	receive(id, value, isFirst = false) {
		this.#parts.get(id)?.receive(value);
		this.#panel?.receive(id, value, isFirst);
	}

	receiveBytes(id, bytes) {
		this.#parts.get(id)?.receiveBytes?.(bytes);
		this.#panel?.receiveBytes(id, bytes);
	}

	refuse(id, why) {
		const part = this.#parts.get(id);
		if (part?.refuse) part.refuse(why);
		else announce(why);
	}

	updateQuality() {
		nextFrame(this.#tellQuality);
	}

	get isLive() {
		const { info, isListed } = this.service;
		return this.page.isLinked && isListed && info?.state === "connected";
	}

	#enable() {
		const canControl = this.isLive && this.page.hello.control !== false;
		this.node.classList.toggle("stale", !this.isLive);
		this.body.hidden = this.service.info?.state === "identityChanged" || this.service.info?.state === "notPaired";
		const active = document.activeElement;
		if (!canControl && this.body.contains(active)) this.#focused = active;
		for (const part of this.#parts.values()) part.setEnabled?.(canControl);
		// A control that was disabled under the keyboard gets its focus back.
		if (canControl && this.#focused) {
			if (document.activeElement === document.body && this.#focused.isConnected) this.#focused.focus({ preventScroll: true });
			this.#focused = null;
		}
	}

	#showState(info, isListed) {
		const box = this.state;
		const isChanged = this.page.isLinked && isListed && info.state === "identityChanged";
		box.className = isChanged ? "box danger" : "card-state";
		const texts = isChanged ? [
			`Another device answers under the name ${info.name}. Its values are not shown and nothing is sent to it.`,
			sentence(info.why ?? ""),
			"If its owner set it up anew, revoke the old key at this dashboard’s computer (elemental trust revoke), and pair again. If not, somebody pretends to be it.",
		] : [this.#stateText(info, isListed)];
		const shown = texts.filter((text) => text !== "");
		box.hidden = shown.length === 0;
		box.replaceChildren(isChanged ? make("h4", { text: "Key changed" }) : "", ...shown.map((text) => make("p", { text })));
	}

	#stateText(info, isListed) {
		if (!this.page.isLinked) return `Not connected to the dashboard.${this.service.elements ? " These are the last values." : ""}`;
		if (!isListed) return "Not on the network now. It comes back by itself.";
		switch (info.state) {
		case "connecting": return "Connecting…";
		case "away": return sentence(info.why ?? "Away") + (info.canPair ? "" : " It comes back by itself.");
		case "refused": return sentence(info.why ?? "The service refused the connection");
		case "notPaired": return "This service answers to paired devices alone.";
		default: return "";
		}
	}

	#showQuality() {
		const { quality } = this.service;
		this.quality.hidden = !quality || !this.isLive;
		if (this.quality.hidden) return;
		const { rtt, in: received, out, lost } = quality;
		setText(this.quality, [typeof rtt === "number" && `${fixed(rtt)} ms round trip`, `${fixed(received)} values/s`, out > 0 && `${fixed(out)} sent/s`, `${lost} lost`]
			.filter(Boolean).join(" · "));
	}
}

function group(title, parts) {
	return make("div", { class: "group" }, make("h4", { text: title }), make("div", { class: "elements" }, ...parts.map((part) => part.node)));
}

function sentence(text) {
	if (!text) return "";
	return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".");
}
