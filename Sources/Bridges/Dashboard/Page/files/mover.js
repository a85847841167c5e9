// Sends what a hand does: over a connection of its own, the newest alone, at most 120 times a second.

const SPACING = 1000 / 120;
// The dashboard takes a page that says nothing for 300 ms to have let go.
const REMINDER = 100;
// While the dashboard has not answered what was sent so many milliseconds ago, nothing follows: on a link that stalls, what
// is in its buffers would be old when it arrives.
const WINDOW = 250;

export class Mover {
	rate = 0;
	// Values that a newer one has replaced before they were sent.
	replaced = 0;
	#age = null;
	#due = new Map();
	#values = new Map();
	#times = new Map();
	#sent = [];
	#last = 0;
	#timer = 0;
	#reminder = 0;

	constructor(link) {
		this.link = link;
	}

	start() {
		this.#reminder = setInterval(() => {
			for (const [binding, value] of this.#values) this.#due.set(binding, value);
			this.#pump();
		}, REMINDER);
	}

	stop() {
		clearInterval(this.#reminder);
		clearTimeout(this.#timer);
		this.#values.clear();
		this.#due.clear();
		this.forget();
	}

	// The connection is a new one, on which nothing is under way.
	forget() {
		this.#times.clear();
	}

	// Milliseconds from sending to the dashboard's answer; more while that is waited for too long.
	get age() {
		const waiting = this.#waiting(performance.now());
		return waiting > WINDOW ? waiting : this.#age;
	}

	// For how long the oldest message without an answer has been under way.
	#waiting(now) {
		const [oldest] = this.#times.values();
		return oldest === undefined ? 0 : now - oldest;
	}

	move(binding, value) {
		if (value === undefined) return;
		if (this.#due.has(binding)) this.replaced += 1;
		this.#values.set(binding, value);
		this.#due.set(binding, value);
		this.#pump();
	}

	// The dashboard has got a message.
	answered(n) {
		const time = this.#times.get(n);
		if (time === undefined) return;
		this.#age = performance.now() - time;
		for (const each of this.#times.keys()) if (each <= n) this.#times.delete(each);
		this.#pump();
	}

	#pump = () => {
		clearTimeout(this.#timer);
		const now = performance.now();
		const wait = this.#last + SPACING - now;
		if (document.visibilityState === "hidden") return;
		if (this.#waiting(now) > WINDOW) return;
		if (wait > 0.5 || this.link.isBusy) {
			this.#timer = setTimeout(this.#pump, Math.max(wait, 2));
			return;
		}
		const v = [];
		for (const [binding, value] of this.#due) if (binding.isHeld) v.push([binding.key, binding.element.id, value]);
		this.#due.clear();
		if (!v.length) return;
		const n = this.link.nextNumber();
		if (!this.link.send({ t: "move", n, v })) return;
		this.#last = now;
		this.#times.set(n, now);
		this.#sent.push(now);
		while (this.#sent[0] < now - 1000) this.#sent.shift();
		this.rate = this.#sent.length;
	};
}
