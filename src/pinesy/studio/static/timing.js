// When to act: not for every keystroke, and not while the last answer is still on its way.

/** Return a function that runs `action` once calls of it have ceased for some milliseconds. */
export function later(milliseconds, action) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), milliseconds);
  };
}

/** Return a function that runs the asynchronous `action`, one call at a time and the last one
 * always; calls while it runs are joined into one. */
export function latest(action) {
  let running = false;
  let waiting = null;
  return async function run(...given) {
    waiting = given;
    if (running) return;
    running = true;
    try {
      while (waiting) {
        const now = waiting;
        waiting = null;
        await action(...now);
      }
    } finally {
      running = false;
    }
  };
}

/** Measure, under a name, the time from a start to the paint of what was just written. */
export function measurePaint(name, start) {
  if (start === undefined) return;
  requestAnimationFrame(() => setTimeout(() => performance.measure(name, { start })));
}
