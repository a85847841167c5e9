// The open service: its name and state, its pairing, its elements, and details for whoever wants them.

import { CommodorePanel, belongsToPanel, isCommodore } from "./commodore.js";
import { makeControl } from "./controls.js";
import { Details } from "./details.js";
import { announce, button, icon, make, setText, span, uniqueId } from "./dom.js";
import { nextFrame } from "./frame.js";
import { favourites } from "./memory.js";
import { PairingForm } from "./pairing.js";
import { Reading } from "./reading.js";
import { accessOf, sentence, stateOf } from "./states.js";
import { sizeText } from "./values.js";

export class Panel {
	#parts = new Map();
	#catalogue = "";
	#focused = null;
	#machine = null;
	#tellQuality = () => this.details.tellQuality();

	// `page` has store, hello (what the dashboard allows), isLinked, goBack() and list.
	constructor(service, page) {
		this.service = service;
		this.page = page;
		const id = uniqueId("service");
		this.title = make("h2", { id, tabindex: "-1" });
		this.access = make("p", { class: "meta quiet" });
		this.back = button("round back", undefined, () => page.goBack(), { "aria-label": "All services" });
		this.back.append(icon("left"));
		this.star = button("round star-button", undefined, () => {
			favourites.toggle(service.id);
			this.#showFavourite();
			page.list.touch();
		});
		this.star.append(icon("star"), span("aside", "Favourite"));
		this.state = make("div", { class: "panel-state" });
		this.body = make("div", { class: "body" });
		this.pairing = new PairingForm(service, page);
		this.details = new Details(service);
		this.node = make("article", { class: "panel", "aria-labelledby": id },
			make("header", { class: "panel-head" }, this.back, make("div", { class: "panel-title" }, this.title, this.access), this.star),
			this.state, this.pairing.node, this.body, this.details.node);
		this.#showFavourite();
		this.update();
		if (service.elements) this.showCatalogue();
	}

	remove() {
		this.#empty();
		this.node.remove();
	}

	update() {
		const { service } = this;
		setText(this.title, service.name);
		setText(this.access, this.isLive ? accessOf(service.info) : "");
		this.access.hidden = !this.isLive;
		this.#showState();
		this.pairing.update();
		this.details.update(this.isLive);
		this.#enable();
	}

	// Makes the elements' controls anew if the catalogue is another one.
	showCatalogue() {
		const { elements } = this.service;
		const catalogue = JSON.stringify(elements);
		if (catalogue === this.#catalogue) return;
		this.#catalogue = catalogue;
		this.#empty();
		let rest = elements;
		if (isCommodore(elements)) {
			this.#machine = new CommodorePanel(elements, (element) => this.#sender(element));
			rest = elements.filter((element) => !belongsToPanel(element));
			for (const [id, control] of this.#machine.controls) this.#parts.set(id, control);
		}
		const sorted = { stop: [], controls: [], readings: [] };
		for (const element of rest) {
			const kind = !element.settable ? "readings" : element.kind === "urgent" ? "stop" : "controls";
			sorted[kind].push(this.#make(element));
		}
		this.body.replaceChildren(...[
			group("Emergency stop", sorted.stop, "group stops"), this.#machine?.node, group("Controls", sorted.controls),
			group("Readings", sorted.readings), !elements.length && make("p", { class: "quiet", text: "This service has no elements." }),
		].filter(Boolean));
		this.node.classList.toggle("has-stops", sorted.stop.length > 0);
		this.details.showElements();
		for (const [id, value] of this.service.values) this.receive(id, value, true);
		for (const [id, bytes] of this.service.pictures) this.receiveBytes(id, bytes);
		this.#enable();
	}

	#empty() {
		for (const part of this.#parts.values()) part.remove?.();
		this.#parts.clear();
		this.#machine?.remove();
		this.#machine = null;
	}

	#sender(element) {
		return (value, rest) => this.page.store.set(this.service, element, value, rest);
	}

	#make(element) {
		const control = element.settable ? makeControl(element, this.#sender(element)) : null;
		const part = control ?? new Reading(element, this.service, this.page.store);
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
		if (!element || !old || this.#machine?.controls.has(id)) return;
		old.remove?.();
		old.node.replaceWith(this.#make(element).node);
		this.#enable();
	}

	receive(id, value, isFirst = false) {
		this.#parts.get(id)?.receive(value);
		this.#machine?.receive(id, value, isFirst);
	}

	touch(id) {
		this.#parts.get(id)?.plot?.touch();
	}

	receiveBytes(id, bytes) {
		this.#parts.get(id)?.receiveBytes?.(bytes);
		this.#machine?.receiveBytes(id, bytes);
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

	#showFavourite() {
		this.star.setAttribute("aria-pressed", favourites.has(this.service.id));
	}

	#enable() {
		const { isLive } = this;
		const canControl = isLive && this.page.hello.control !== false;
		// What was missed meanwhile is asked for.
		if (isLive && this.node.classList.contains("stale")) for (const part of this.#parts.values()) part.plot?.refill();
		this.node.classList.toggle("stale", !isLive);
		const state = this.service.info?.state;
		this.body.hidden = state === "identityChanged" || state === "notPaired" || !this.service.elements;
		const active = document.activeElement;
		if (!canControl && this.body.contains(active)) this.#focused = active;
		for (const part of this.#parts.values()) part.setEnabled?.(canControl);
		// A control that was disabled under the keyboard gets its focus back.
		if (canControl && this.#focused) {
			if (document.activeElement === document.body && this.#focused.isConnected) this.#focused.focus({ preventScroll: true });
			this.#focused = null;
		}
	}

	#showState() {
		const { info } = this.service;
		const { kind, sentence: text } = stateOf(this.service, this.page);
		const isChanged = kind === "identityChanged";
		this.state.className = isChanged ? "box danger" : "panel-state";
		this.state.dataset.state = kind;
		const texts = isChanged ? [
			`Another device answers under the name ${info.name}. Its values are not shown and nothing is sent to it.`,
			sentence(info.why ?? ""),
			"If its owner set it up anew, revoke the old key at this dashboard’s computer (elemental trust revoke), and pair again. If not, somebody pretends to be it.",
		] : [text];
		const shown = texts.filter((each) => each !== "");
		this.state.hidden = shown.length === 0;
		this.state.replaceChildren(isChanged ? make("h3", { text: "Key changed" }) : "", ...shown.map((each) => make("p", { text: each })));
	}
}

function group(title, parts, kind = "group") {
	return parts.length > 0 && make("section", { class: kind, "aria-label": title }, make("h3", { text: title }), make("div", { class: "elements" }, ...parts.map((part) => part.node)));
}
