// Elements are made from names, attributes and texts; markup is never parsed, so that no text of a
// file can become part of the page.

/** Return an element: make("button", { type: "button", class: "x", onclick: f }, "text", child). */
export function make(name, attributes = {}, ...content) {
  return filled(document.createElement(name), attributes, content);
}

/** Return an SVG element. */
export function draw(name, attributes = {}, ...content) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, content);
}

function filled(element, attributes, content) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...content.filter((part) => part != null));
  return element;
}

/** Put other content into an element. */
export function fill(element, ...content) {
  element.replaceChildren(...content.filter((part) => part != null));
  return element;
}

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

/** Return a degree as text, as short as it can be told apart: 0.3, 0.0625, 1. */
export function degree(x) {
  return x === null ? "–" : String(Number(x.toPrecision(4)));
}
