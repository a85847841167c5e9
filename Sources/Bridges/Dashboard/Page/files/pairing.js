// Pairing with a service: the code that it shows, typed here.

import { announce, button, make, setText, uniqueId } from "./dom.js";
import { sentence } from "./states.js";

export class PairingForm {
	#isOpen = false;
	#isBusy = false;

	constructor(service, page) {
		this.service = service;
		this.page = page;
		this.node = make("div", { class: "pairing" });
	}

	// Built when it is first needed.
	#make() {
		const id = uniqueId("code");
		this.error = make("p", { class: "refusal", id: uniqueId("refusal"), hidden: true });
		this.why = make("p");
		// Whom the code pairs.
		this.who = make("p", { class: "quiet" });
		this.command = make("code");
		this.input = make("input", {
			id, class: "code", type: "text", inputmode: "numeric", autocomplete: "one-time-code", pattern: "[0-9]{6}", maxlength: "7",
			"aria-describedby": this.error.id,
		});
		const nameId = uniqueId("name");
		this.name = make("input", { id: nameId, type: "text", maxlength: "64", autocomplete: "off", "aria-describedby": this.error.id });
		// Only where the service knows another client by the usual name.
		this.named = make("div", { class: "pair-row", hidden: true }, make("label", { for: nameId, text: "Another name" }), this.name);
		this.button = make("button", { class: "tool primary", type: "submit", text: "Pair" });
		this.form = make("form", { class: "pair-form", novalidate: true },
			make("label", { for: id, text: "The six-digit code that the service shows" }), make("div", { class: "pair-row" }, this.input, this.button),
			this.named, this.error, this.who, make("details", { class: "details" }, make("summary", { text: "It shows no code?" }),
				make("p", { text: "Run this on the service’s computer:" }), make("p", {}, this.command)));
		this.offer = button("tool primary", "Pair…", () => {
			this.#isOpen = !this.#isOpen;
			this.update();
			if (this.#isOpen) this.input.focus();
		});
		this.form.onsubmit = (event) => {
			event.preventDefault();
			this.#pair();
		};
		this.node.append(this.why, this.offer, this.form);
	}

	update() {
		const { info, isListed } = this.service;
		const { hello, isLinked } = this.page;
		const isNeeded = info?.state === "notPaired";
		const isAway = info?.state === "away";
		const isOffered = isAway || (info?.state === "connected" && (info.role === "plain" || info.role === "observe" || info.role === null)
			&& info.security !== "open");
		this.node.hidden = !isLinked || !isListed || !info?.canPair || !(isNeeded || isOffered);
		if (this.node.hidden) return;
		if (!this.form) this.#make();
		const canPair = hello.pairing !== false;
		setText(this.why, !canPair ? "Pairing is not possible from this page."
			: isAway && !isNeeded ? "If this service answers paired devices only, pair with it." : "");
		this.why.hidden = this.why.textContent === "";
		this.offer.hidden = isNeeded || !canPair;
		this.offer.setAttribute("aria-expanded", this.#isOpen);
		this.form.hidden = !canPair || !(isNeeded || this.#isOpen);
		setText(this.who, `This pairs the dashboard${hello.host ? ` on ${hello.host}` : ""}: everybody who opens this page can set the service then.`);
		const target = info.service ? `${info.service}/${info.name}` : info.name;
		setText(this.command, `elemental open-pairing ${/^[\w./:-]+$/.test(target) ? target : `'${target.replaceAll("'", "'\\''")}'`}`);
		this.input.disabled = this.name.disabled = this.button.disabled = this.#isBusy;
	}

	async #pair() {
		const code = this.input.value.replace(/[\s-]/g, "");
		if (!/^\d{6}$/.test(code)) {
			this.#tell("The code has six digits.");
			return;
		}
		this.#isBusy = true;
		this.#tell("");
		this.update();
		setText(this.button, "Pairing…");
		const answer = await this.page.store.pair(this.service, code, this.named.hidden ? "" : this.name.value.trim());
		this.#isBusy = false;
		setText(this.button, "Pair");
		this.input.value = "";
		this.update();
		if (answer.t === "paired") {
			this.#isOpen = false;
			this.named.hidden = true;
			this.update();
			announce(`Paired with ${this.service.info?.name ?? "the service"}: role ${answer.role}.`);
		} else {
			const isTaken = answer.code === "nameTaken";
			this.#tell(answer.code === "wrongCode"
				? "This is not the code that the service shows. Look again and type it anew. If it is right, somebody may be in between."
				: sentence((answer.why ?? "Pairing failed") + (isTaken ? "; the code is used up, so let the service show a new one" : "")));
			if (isTaken) this.named.hidden = false;
			(isTaken ? this.name : this.input).focus();
		}
	}

	#tell(text) {
		setText(this.error, text);
		this.error.hidden = text === "";
		if (text) announce(text);
	}
}
