// The phone in the hand moves elements of services. First what moves what is chosen, then it is played.

import { Binding, fits } from "./binding.js";
import { announce, button, icon, make, select, setChildren, setText, span } from "./dom.js";
import { nextFrame } from "./frame.js";
import { Link } from "./link.js";
import { Mover } from "./mover.js";
import * as memory from "./memory.js";
import { makeControl } from "./controls.js";
import { askForSensors, hasSensors, makeSources } from "./sources.js";
import { axes, inWords, toNumber } from "./values.js";

const SHOWN_EVERY = 250;

export class Controller {
	#sources = makeSources();
	#settings = memory.controller();
	#services = new Map();
	#catalogues = new Map();
	#values = new Map();
	#stops = new Map();
	#bindings = [];
	#isPlaying = false;
	#begun = 0;
	#shower = 0;
	#lock = null;
	#ending = new AbortController();

	// `page` has goBack() and isLinked.
	constructor(page) {
		this.page = page;
		this.title = make("h2", { text: "Controller", tabindex: "-1" });
		const back = button("round back always", undefined, () => page.goBack(), { "aria-label": "All services" });
		back.append(icon("left"));
		this.state = make("p", { class: "quiet" });
		this.setUp = make("div", { class: "body" });
		this.surface = make("div", { class: "play", hidden: true });
		this.rows = make("ul", { class: "play-state" });
		this.rate = make("p", { class: "play-rate quiet" });
		this.told = make("div", { hidden: true }, this.rows, this.rate);
		this.missing = make("p", { class: "quiet" });
		this.go = button("tool primary play-go", "Play", () => this.#begin(), { disabled: true });
		// Where Play was if no finger plays: a second tap ends nothing.
		const end = button("tool play-end", "End", () => performance.now() > this.#begun + 600 && this.#end());
		this.node = make("article", { class: "panel controller", "aria-label": "Controller" },
			make("header", { class: "panel-head" }, back, make("div", { class: "panel-title" }, this.title, this.state), end),
			this.told, this.setUp, this.surface, make("div", { class: "play-bar" }, this.missing, this.go));
		this.link = new Link({
			onState: (state, text) => this.#enter(state, text),
			onMessage: (message) => this.#receive(message),
			onBytes: () => {},
		});
		this.mover = new Mover(this.link);
		document.addEventListener("visibilitychange", () => this.#look(), { signal: this.#ending.signal });
		window.addEventListener("pagehide", () => this.link.send({ t: "rest" }), { signal: this.#ending.signal });
		this.link.start(memory.token());
		this.#showSetUp();
	}

	remove() {
		this.#end();
		this.#ending.abort();
		this.link.send({ t: "letGo" });
		this.link.stop();
		this.node.remove();
	}

	#enter(state, text) {
		for (const binding of this.#bindings) binding.isHeld = false;
		// A connection made anew tells everything anew; what is bound is held again with its catalogue.
		if (state === "open") {
			for (const known of [this.#services, this.#catalogues, this.#values]) known.clear();
			this.#removeStops();
			this.asked = "";
			this.mover.forget();
		}
		// What the page's own connection has lost too is said at its head.
		setText(this.state, state === "open" || !this.page.isLinked ? "" : text);
		this.#enableStops();
		this.#showRows();
	}

	#receive(message) {
		switch (message.t) {
		case "hello":
			setText(this.state, message.control === false ? message.why ?? "This dashboard sets nothing." : "");
			break;
		case "service":
			this.#services.set(message.key, message);
			this.#open();
			this.#showServices();
			this.#enableStops();
			break;
		case "gone":
			this.#services.delete(message.key);
			this.#showServices();
			this.#enableStops();
			break;
		case "catalogue":
			for (const element of message.elements) element.range = element.range?.map(toNumber);
			this.#catalogues.set(message.key, message.elements);
			this.#showSetUp();
			if (this.#isPlaying) this.#bind();
			break;
		case "values":
			for (const [key, values] of Object.entries(message.v)) this.#takeValues(Number(key), values);
			break;
		case "gripped":
			this.#change(message, { isHeld: true, isTaken: false, isResting: false, problem: null }, message.taken && "taken from another controller");
			break;
		case "released": {
			const isTaken = message.why === "taken";
			this.#change(message, { isHeld: false, isTaken }, isTaken && "another controller has taken it");
			break;
		}
		case "resting":
			this.#change(message, { isResting: true });
			break;
		case "refused":
			this.#stops.get(message.key)?.get(message.id)?.refuse(message.why);
			this.#change(message, { problem: message.why });
			break;
		case "moved":
			this.mover.answered(message.n);
			for (const binding of this.#bindings) binding.isResting = false;
			break;
		}
	}

	#change({ key, id }, properties, text) {
		for (const binding of this.#bindings) {
			if (binding.key !== key || binding.element.id !== id) continue;
			Object.assign(binding, properties);
			if (text) announce(`${binding.title}: ${text}.`);
		}
		this.#showRows();
	}

	#takeValues(key, values) {
		this.#values.set(key, { ...this.#values.get(key), ...values });
		for (const [id, control] of this.#stops.get(key) ?? []) if (values[id] != null) control.receive(values[id]);
	}

	#keyOf(id) {
		for (const [key, { service, name }] of this.#services) if (`${service ?? ""}/${name}` === id) return key;
		return undefined;
	}

	// Asks for the elements of all services that are bound.
	#open() {
		const keys = [...new Set(this.#settings.map(({ service }) => this.#keyOf(service)).filter((key) => key !== undefined))];
		if (keys.join() === this.asked) return;
		this.asked = keys.join();
		this.link.send({ t: "open", keys });
	}

	// The form that is open under "Adjust", and what the form shows of the services.
	opened = null;
	shown = "";
	asked = "";

	#keep() {
		memory.controller(this.#settings);
		this.#open();
		this.#showSetUp();
		// Not behind the bar.
		document.activeElement?.closest(".source")?.scrollIntoView({ block: "nearest" });
	}

	// MARK: What moves what

	// Only where there are others than before: a list that is open would close.
	#showServices() {
		const shown = [...this.#services.values()].map(({ key, state }) => `${key} ${state === "connected"}`).join();
		if (shown === this.shown) return;
		this.shown = shown;
		nextFrame(() => this.#showSetUp());
	}

	#showSetUp() {
		if (this.#isPlaying) return;
		this.go.disabled = !this.#settings.some((each) => this.#elementOf(each));
		setText(this.missing, !this.go.disabled ? "" : this.#settings.length ? "Choose an element of a service that is here." : "Choose what moves a service.");
		const active = document.activeElement?.id;
		this.setUp.replaceChildren(
			make("p", { text: "Choose what each part of this device moves, then play." }),
			hasSensors() ? "" : make("p", { class: "box", text: `This page cannot have the phone’s motion: ${window.isSecureContext ? "this browser has no sensors." : "it came over plain http, and browsers give sensors to https alone. Start the dashboard with --lan and without --http."}` }),
			...this.#sources.filter(({ isSensor }) => !isSensor || hasSensors()).map((source) => this.#sourceNode(source)));
		if (active) document.getElementById(active)?.focus({ preventScroll: true });
	}

	#sourceNode(source) {
		const settings = this.#settings.find((each) => each.source === source.id);
		const services = [...this.#services.values()].filter(({ state }) => state === "connected")
			.map(({ service, name }) => [`${service ?? ""}/${name}`, name]);
		if (settings && !services.some(([id]) => id === settings.service)) services.push([settings.service, `${settings.service.split("/").pop()} (away)`]);
		const service = this.#choice("Service", `${source.id}-service`, `${source.name} moves`, [["", "Not used"], ...services], settings?.service ?? "", (id) => {
			this.#settings = this.#settings.filter((each) => each !== settings);
			if (id) this.#settings.push({ source: source.id, service: id, element: "" });
			this.#keep();
		});
		const node = make("section", { class: "group source", "aria-label": source.name }, make("h3", { text: source.name }), make("p", { class: "quiet", text: source.text }),
			make("div", { class: "choose" }, service));
		const elements = settings && (this.#catalogues.get(this.#keyOf(settings.service)) ?? []).filter((element) => fits(source, element));
		if (!elements) return node;
		const element = elements.find(({ name }) => name === settings.element);
		node.lastChild.append(this.#choice("Element", `${source.id}-element`, `Element for ${source.name}`, [["", elements.length ? "Choose an element" : "No element fits"], ...elements.map(({ name }) => [name, name])], settings.element, (name) => {
			const chosen = elements.find((each) => each.name === name);
			Object.assign(settings, chosen ? Binding.make(source, settings.service, chosen) : { element: "" });
			this.#keep();
		}));
		if (element && !source.isButton) node.append(this.#adjust(source, settings, element));
		return node;
	}

	#adjust(source, settings, element) {
		const components = axes(element.type) ?? [""];
		const choices = [["-1", "nothing"], ...source.axes.flatMap((axis, index) => [[`${index}`, axis], [`${index}!`, source.isCentred ? `${axis}, turned round` : "turned round"]])];
		const parts = settings.parts.map((part, index) => this.#labelled(`${source.id}-axis-${index}`, components[index] ? `${element.name} ${components[index]}` : "Follows", (id, label) => select(id, label, choices, `${part.axis}${part.isTurned ? "!" : ""}`, (text) => {
			Object.assign(part, { axis: Number.parseInt(text, 10), isTurned: text.endsWith("!") });
			this.#keep();
		})));
		const number = (key, label, least, most, scale = 1) => this.#labelled(`${source.id}-${key}`, label, (id) => make("input", {
			id, class: "number", type: "number", step: "any", min: least, max: most, value: String(Number((settings[key] * scale).toPrecision(6))),
			onchange: (event) => {
				const value = Number(event.target.value) / scale;
				if (event.target.validity.valid && event.target.value !== "") settings[key] = value;
				this.#keep();
			},
		}));
		const rests = make("input", { id: `${source.id}-rests`, type: "checkbox", checked: settings.rests, onchange: (event) => {
			settings.rests = event.target.checked;
			this.#keep();
		} });
		// At once, and not with the event that follows: the form may be made anew before.
		const summary = make("summary", { text: "Adjust", onclick: () => {
			this.opened = details.open ? null : source.id;
		} });
		const details = make("details", { class: "details", open: this.opened === source.id }, summary, make("div", { class: "adjust" }, ...parts,
			number("low", "From", element.range?.[0], element.range?.[1]), number("high", "To", element.range?.[0], element.range?.[1]),
			number("dead", "Dead zone, %", 0, 50, 100), number("smooth", "Smoothing, %", 0, 95, 100),
			make("label", { class: "field check" }, rests, span("", `Returns to ${source.isCentred ? "the middle" : "the beginning"} when this page lets go`))));
		return details;
	}

	#labelled(id, label, makeInput) {
		return make("div", { class: "field" }, make("label", { for: id, text: label }), makeInput(id, label));
	}

	#choice(title, ...rest) {
		return make("div", { class: "choice" }, span("quiet", title), select(...rest));
	}

	// MARK: Playing

	async #begin() {
		// Phones ask only while the touch lasts, so this comes first.
		if (this.#settings.some(({ source }) => this.#sources.find(({ id }) => id === source)?.isSensor) && !await askForSensors()) {
			setText(this.state, "The phone does not give its motion to this page.");
			return;
		}
		this.#isPlaying = true;
		this.#begun = performance.now();
		this.mover.start();
		this.#bind();
		this.#stayAwake();
		this.#shower = setInterval(() => this.#showRows(), SHOWN_EVERY);
		this.setUp.hidden = true;
		this.surface.hidden = this.told.hidden = false;
		this.node.classList.add("playing");
	}

	#end() {
		if (!this.#isPlaying) return;
		this.#isPlaying = false;
		for (const source of this.#sources) source.stop?.();
		this.mover.stop();
		this.link.send({ t: "letGo" });
		this.#bindings = [];
		clearInterval(this.#shower);
		this.#lock?.release();
		this.#lock = null;
		this.setUp.hidden = false;
		this.surface.hidden = this.told.hidden = true;
		this.surface.replaceChildren();
		this.node.classList.remove("playing");
		this.#removeStops();
		this.#showSetUp();
	}

	// Takes hold of what is bound. Of a service that has come back the elements are held anew.
	#bind() {
		const before = new Map(this.#bindings.map((binding) => [binding.settings, binding]));
		this.#bindings = [];
		for (const settings of this.#settings) {
			const source = this.#sources.find(({ id }) => id === settings.source);
			const key = this.#keyOf(settings.service);
			const element = this.#elementOf(settings);
			const known = before.get(settings);
			if (!element) {
				// Its catalogue follows; what shows it stays.
				if (known) this.#bindings.push(Object.assign(known, { key, isHeld: false }));
				continue;
			}
			const binding = known ?? new Binding(source, settings);
			Object.assign(binding, { key, element });
			binding.title = `${source.name} → ${this.#services.get(key).name} · ${element.name}`;
			this.#bindings.push(binding);
			if (!known) {
				const node = source.start((told) => {
					const value = binding.value(told);
					this.mover.move(binding, value);
					const text = node?.querySelector("b");
					if (text) setText(text, inWords(binding.element, value));
				}, `${this.#services.get(key).name} ${element.name}`, binding.first(this.#values.get(key)?.[element.id] ?? undefined), element.kind === "momentary");
				if (node) this.surface.append(node);
			}
			if (!binding.isHeld && !binding.isTaken) this.#grip(binding);
		}
		this.node.classList.toggle("by-hand", this.#bindings.length > 0 && this.#bindings.every(({ source }) => source.isSensor));
		this.#showStops();
		this.#showRows();
	}

	// The element that a setting moves, if it is there.
	#elementOf({ source, service, element }) {
		const found = this.#catalogues.get(this.#keyOf(service))?.find(({ name }) => name === element);
		const by = this.#sources.find(({ id }) => id === source);
		return by && found && fits(by, found) ? found : undefined;
	}

	#removeStops(kept = new Set()) {
		for (const [key, controls] of this.#stops) {
			if (kept.has(key)) continue;
			for (const control of controls.values()) control.node.remove();
			this.#stops.delete(key);
		}
	}

	// The emergency stops of what is moved are at hand.
	#showStops() {
		const keys = new Set(this.#bindings.map((binding) => binding.key).filter((key) => this.#catalogues.has(key)));
		this.#removeStops(keys);
		for (const key of keys) {
			if (this.#stops.has(key)) continue;
			const controls = new Map();
			for (const element of this.#catalogues.get(key).filter(({ kind, settable }) => kind === "urgent" && settable)) {
				const control = makeControl(element, (value) => this.link.send({ t: "set", key, id: element.id, value, n: this.link.nextNumber() }));
				const value = this.#values.get(key)?.[element.id];
				if (value != null) control.receive(value);
				controls.set(element.id, control);
				this.surface.append(control.node);
			}
			this.#stops.set(key, controls);
		}
		this.#enableStops();
	}

	// A stop that does not get through is not offered. Those of services that are listed anew have other keys.
	#enableStops() {
		for (const [key, controls] of this.#stops) {
			const isLive = this.link.state === "open" && this.#services.get(key)?.state === "connected";
			for (const control of controls.values()) control.setEnabled(isLive);
		}
	}

	#showRows() {
		if (!this.#isPlaying) return;
		const { rate, age, replaced } = this.mover;
		setText(this.rate, `${rate} a second${age === null ? "" : ` · answered in ${age.toFixed(age < 10 ? 1 : 0)} ms`} · ${replaced} skipped`);
		for (const binding of this.#bindings) {
			const { state, take } = binding.row ??= this.#row(binding);
			setText(state, this.link.state !== "open" ? "not connected" : binding.isTaken ? "another controller has taken it" : binding.problem ?? (!binding.isHeld ? "waiting" : binding.isResting ? "at rest" : ""));
			take.hidden = !binding.isTaken;
		}
		setChildren(this.rows, this.#bindings.map(({ row }) => row.node));
	}

	#row(binding) {
		const state = span("quiet");
		const take = button("tool", "Take it back", () => {
			binding.isTaken = false;
			this.#grip(binding);
		});
		return { state, take, node: make("li", {}, span("play-what", binding.title), state, take) };
	}

	#grip({ key, element, rest }) {
		this.link.send({ t: "grip", key, id: element.id, rest, n: this.link.nextNumber() });
	}

	// A page that nobody sees moves nothing.
	#look() {
		if (!this.#isPlaying) return;
		if (document.visibilityState === "hidden") this.link.send({ t: "rest" });
		else this.#stayAwake();
	}

	async #stayAwake() {
		try {
			this.#lock = await navigator.wakeLock?.request("screen") ?? null;
		} catch {
			// The battery is low, or the page is hidden: the screen goes dark when it likes.
		}
	}
}
