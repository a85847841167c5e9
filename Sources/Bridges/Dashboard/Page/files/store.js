// The services as the dashboard tells them, and what is sent to them.

import { nextFrame } from "./frame.js";
import { Series } from "./series.js";
import { Decimals, axes, isNumber, toNumber } from "./values.js";

// Milliseconds from one sent value to the next.
const SPACING = 8;

// A service: what the list shows, its elements, and their newest values.
class Service {
	key = null;
	info = null;
	isListed = false;
	// When it took its state, and when it left the network, as Date.now() has it.
	since = 0;
	leftAt = 0;
	// What the search looks at.
	words = "";
	// The telling elements' values, for the list.
	telling = new Map();
	elements = null;
	quality = null;
	values = new Map();
	pictures = new Map();
	#series = new Map();
	#decimals = new Map();

	constructor(id) {
		this.id = id;
	}

	get name() {
		return this.info?.name ?? this.id.slice(this.id.indexOf("/") + 1);
	}

	take(message) {
		for (const element of message.telling) element.range = element.range?.map(toNumber);
		if (message.key !== this.key || JSON.stringify(message.telling) !== JSON.stringify(this.info?.telling)) this.telling.clear();
		this.key = message.key;
		this.info = message;
		this.isListed = true;
		this.since = Date.now() - message.seconds * 1000;
		this.words = [message.name, message.service, message.host, ...message.telling.map(({ name }) => name)].join(" ").toLowerCase();
	}

	takeTelling(values) {
		for (const [text, value] of Object.entries(values)) {
			if (value === null) this.telling.delete(Number(text));
			else this.telling.set(Number(text), value);
		}
	}

	leave() {
		this.key = null;
		this.isListed = false;
		this.leftAt = Date.now();
	}

	// How many decimals an element's values are shown with, in the list and in the panel.
	decimals(element) {
		return this.#of(element, this.#decimals, Decimals);
	}

	// What plots an element's values; kept while the service is open.
	series(element) {
		return this.#of(element, this.#series, Series);
	}

	#of(element, known, Kind) {
		if (known.get(element.id)?.type !== element.type) known.set(element.id, new Kind(element));
		return known.get(element.id);
	}

	record(id, value, time) {
		this.#series.get(id)?.add(time, [value].flat().map(toNumber));
	}

	fill({ id, p }, time) {
		this.#series.get(id)?.fill(time, p);
	}

	interrupt(time) {
		for (const series of this.#series.values()) series.interrupt(time);
	}

	forgetValues() {
		this.elements = null;
		this.quality = null;
		this.values.clear();
		this.pictures.clear();
	}

	close() {
		this.forgetValues();
		this.#series.clear();
	}
}

// The name by which a service is remembered: keys are new with each connection to the dashboard.
const identify = (message) => `${message.service ?? ""}/${message.name}`;

export class Store {
	services = new Map();
	#keys = new Map();
	#outbox = new Map();
	#answers = new Map();
	#difference = Infinity;
	#rest = 0;
	#later = 0;
	#flush = () => this.#send();

	constructor(link) {
		this.link = link;
		window.addEventListener("pagehide", () => this.#send());
	}

	byKey(key) {
		return this.#keys.get(key);
	}

	// The service of this name, also one that is not listed (yet).
	byId(id) {
		let service = this.services.get(id);
		if (!service) {
			service = new Service(id);
			this.services.set(id, service);
		}
		return service;
	}

	// A new connection to the dashboard: it tells its services anew.
	begin() {
		this.#keys.clear();
		this.#outbox.clear();
		this.#difference = Infinity;
		for (const service of this.services.values()) service.leave();
	}

	list(message) {
		const service = this.byId(identify(message));
		if (service.key !== null && service.key !== message.key) this.#keys.delete(service.key);
		service.take(message);
		this.#keys.set(message.key, service);
		return service;
	}

	unlist(key) {
		const service = this.#keys.get(key);
		this.#keys.delete(key);
		if (service?.key !== key) return;
		service.leave();
	}

	now = () => performance.now();

	// The page's time for one of the dashboard's clock: the least delayed message tells how the clocks differ.
	timeOf(clock) {
		const difference = performance.now() - clock;
		this.#difference = Math.min(this.#difference + 0.02, difference);
		return clock + this.#difference;
	}

	// Sends a value with the next frame: of several before that, the newest alone.
	set(service, element, value, rest) {
		if (service.key === null) return;
		this.#outbox.set(`${service.key}/${element.id}`, { t: "set", key: service.key, id: element.id, value, rest });
		if (document.visibilityState === "hidden") this.#send();
		else nextFrame(this.#flush);
	}

	#send() {
		// Several fingers on a quick display send no more than the dashboard takes.
		const wait = this.#rest - performance.now();
		clearTimeout(this.#later);
		if (wait > 0 && document.visibilityState !== "hidden") {
			this.#later = setTimeout(this.#flush, wait);
			return;
		}
		this.#rest = performance.now() + this.#outbox.size * SPACING;
		for (const message of this.#outbox.values()) this.link.send({ ...message, n: this.link.nextNumber() });
		this.#outbox.clear();
	}

	// Asks for the values of the last seconds that a service has kept; returns whether it can.
	askForPast({ key }, { id }, seconds) {
		return key !== null && this.link.send({ t: "past", key, id, seconds });
	}

	// Pairs with a service; resolves to the dashboard's answer.
	pair(service, code, name) {
		const n = this.link.nextNumber();
		return new Promise((resolve) => {
			if (this.link.send({ t: "pair", key: service.key, code, ...(name ? { name } : {}), n })) this.#answers.set(n, resolve);
			else resolve({ t: "notPaired", why: "There is no connection to the dashboard." });
		});
	}

	answer(message) {
		this.#answers.get(message.n)?.(message);
		this.#answers.delete(message.n);
	}

	disconnected() {
		for (const resolve of this.#answers.values()) resolve({ t: "notPaired", why: "The connection was lost before the answer." });
		this.#answers.clear();
		for (const service of this.services.values()) service.interrupt(this.now());
	}
}

export const isPlotted = (element) => !element.choices && (isNumber(element.type) || axes(element.type) !== undefined);
