// Sends what a hand does: over a connection of its own, the newest alone, at most 120 times a second.

const SPACING = 1000 / 120;
// The dashboard takes a page that says nothing for 300 ms to have let go.
const REMINDER = 100;

export class Mover {
	rate = 0;
	// Milliseconds from sending to the dashboard's answer, and values that a newer one has replaced before they were sent.
	age = null;
	replaced = 0;
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
		this.age = performance.now() - time;
		for (const each of this.#times.keys()) if (each <= n) this.#times.delete(each);
	}

	#pump = () => {
		clearTimeout(this.#timer);
		const now = performance.now();
		const wait = this.#last + SPACING - now;
		if (document.visibilityState === "hidden") return;
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
		if (this.#times.size > 1000) this.#times.clear();
		this.#sent.push(now);
		while (this.#sent[0] < now - 1000) this.#sent.shift();
		this.rate = this.#sent.length;
	};
}
