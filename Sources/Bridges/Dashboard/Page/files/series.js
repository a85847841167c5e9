// What an element's values were, for its plot.

import { axes, toNumber } from "./values.js";

const CAPACITY = 16_384;

// Times and values, one row per component. Times are the page's clock in milliseconds.
export class Series {
	#times = [];
	#rows;
	#least = 0;
	// For how long values are kept, in milliseconds.
	longest = 600_000;

	constructor({ type }) {
		this.type = type;
		this.#rows = (axes(type) ?? [type]).map(() => []);
	}

	// There are too many values: the oldest are forgotten.
	onFull() {}

	get width() {
		return this.#rows.length;
	}

	get count() {
		return this.#times.length;
	}

	time(index) {
		return this.#times[index];
	}

	value(row, index) {
		return this.#rows[row][index];
	}

	// Adds numbers, one per row. Values of one time replace each other.
	add(when, numbers) {
		const time = Math.max(when, this.#least);
		if (!(time <= this.#times.at(-1))) this.#times.push(time);
		this.#rows.forEach((row, each) => { row[this.count - 1] = numbers[each]; });
		const isFull = this.count > CAPACITY;
		this.#forget(isFull ? CAPACITY / 8 : this.indexAt(time - this.longest));
		if (isFull) this.onFull();
	}

	// Puts what the service has kept in front of what came since then: ages and numbers, or an age alone where values are missing.
	fill(time, past) {
		const times = past.map(([age]) => time - age);
		this.#forget(this.indexAt(times.at(-1) + 1));
		this.#times = [...times, ...this.#times];
		this.#rows = this.#rows.map((row, each) => [...past.map((numbers) => toNumber(numbers[each + 1])), ...row]);
	}

	// Nothing is known from this time on: the line breaks.
	interrupt(time) {
		if (this.count > 0 && !Number.isNaN(this.value(0, this.count - 1))) this.add(time, this.#rows.map(() => NaN));
		this.#least = time + 1;
	}

	// The indices of the values from one time to another, and of so many before them.
	*within(start, end, before = 0) {
		for (let index = Math.max(this.indexAt(start) - before, 0); index < this.count && this.time(index) <= end; index += 1) yield index;
	}

	// The index of the first value at or after a time.
	indexAt(time) {
		let low = 0;
		let high = this.count;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.time(middle) < time) low = middle + 1;
			else high = middle;
		}
		return low;
	}

	#forget(count) {
		if (count) for (const each of [this.#times, ...this.#rows]) each.splice(0, count);
	}
}
