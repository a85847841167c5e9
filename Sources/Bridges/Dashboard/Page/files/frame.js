// What changes on the page changes at most once a frame, with the newest values.

const tasks = new Set();
let isAsked = false;

function run() {
	isAsked = false;
	const due = [...tasks];
	tasks.clear();
	for (const task of due) {
		try {
			task();
		} catch (error) {
			reportError(error);
		}
	}
}

// Runs a task once with the next frame; asked for again before, it still runs once.
export function nextFrame(task) {
	tasks.add(task);
	if (isAsked) return;
	isAsked = true;
	requestAnimationFrame(run);
}
