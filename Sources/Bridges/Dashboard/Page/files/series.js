// What an element's values were in the last ten minutes, for its plot.

const LONGEST = 600_000;
const CAPACITY = 16_384;

// A ring of times and of values, one row per component. Times are the page's clock in milliseconds.
export class Series {
	#times = new Float64Array(256);
	#rows;
	#first = 0;
	#least = 0;
	count = 0;

	constructor(width) {
		this.#rows = Array.from({ length: width }, () => new Float64Array(256));
	}

	get width() {
		return this.#rows.length;
	}

	time(index) {
		return this.#times[(this.#first + index) % this.#times.length];
	}

	value(row, index) {
		return this.#rows[row][(this.#first + index) % this.#times.length];
	}

	// Adds numbers, one per row. Values of one time replace each other; none are kept for over ten minutes.
	add(when, numbers) {
		const time = Math.max(when, this.#least);
		const isNew = this.count === 0 || time > this.time(this.count - 1);
		if (isNew) {
			while (this.count > 0 && time - this.time(0) > LONGEST) this.#forget();
			if (this.count === this.#times.length) {
				if (this.count < CAPACITY) this.#grow();
				else this.#forget();
			}
			this.count += 1;
		}
		const place = (this.#first + this.count - 1) % this.#times.length;
		if (isNew) this.#times[place] = time;
		this.#rows.forEach((row, index) => { row[place] = numbers[index]; });
	}

	// Nothing is known from this time on: the line breaks.
	interrupt(time) {
		if (this.count > 0 && !Number.isNaN(this.value(0, this.count - 1))) this.add(time, this.#rows.map(() => NaN));
		this.#least = time + 1;
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

	#forget() {
		this.#first = (this.#first + 1) % this.#times.length;
		this.count -= 1;
	}

	#grow() {
		const unrolled = (old) => {
			const grown = new Float64Array(old.length * 2);
			for (let index = 0; index < this.count; index += 1) grown[index] = old[(this.#first + index) % old.length];
			return grown;
		};
		this.#rows = this.#rows.map(unrolled);
		this.#times = unrolled(this.#times);
		this.#first = 0;
	}
}
