// Calls press(true) when a finger, the space bar or Enter presses a node, and press(false) when it is let go, also because the
// page is hidden or the focus goes elsewhere. Other fingers do not matter. Returns what ends this.
export function followHold(node, press) {
	const ending = new AbortController();
	let isDown = false;
	const turn = (value) => {
		if (value === isDown) return;
		isDown = value;
		press(value);
	};
	const on = (target, names, act) => names.forEach((name) => target.addEventListener(name, act, { signal: ending.signal }));
	on(node, ["pointerdown"], (event) => {
		if (event.button !== 0 || node.disabled) return;
		node.setPointerCapture(event.pointerId);
		turn(true);
	});
	on(node, ["pointerup", "pointercancel", "lostpointercapture", "blur"], () => turn(false));
	on(window, ["blur"], () => turn(false));
	on(document, ["visibilitychange"], () => turn(false));
	on(node, ["keydown"], (event) => [" ", "Enter"].includes(event.key) && !event.repeat && turn(true));
	on(node, ["keyup"], (event) => [" ", "Enter"].includes(event.key) && turn(false));
	on(node, ["contextmenu"], (event) => event.preventDefault());
	return () => {
		turn(false);
		ending.abort();
	};
}
