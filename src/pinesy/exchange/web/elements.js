/**
 * Elements are made from names, attributes and texts. Markup is never parsed, so no text of a file
 * can become part of a page.
 */

const SVG = "http://www.w3.org/2000/svg";

/** Return an element: make("a", { href: "#x", class: "y", onclick: f }, "text", child). */
export function make(name, attributes = {}, ...content) {
  return filled(document.createElement(name), attributes, content);
}

/** Return an element of a picture (SVG), made in the same way. */
export function draw(name, attributes = {}, ...content) {
  return filled(document.createElementNS(SVG, name), attributes, content);
}

/** Return a button with a text; `onclick` is called when it is pressed. */
export function button(text, onclick, attributes = {}) {
  return make("button", { type: "button", onclick, ...attributes }, text);
}

function filled(element, attributes, content) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  return fill(element, content);
}

/** Put other content into an element. */
export function fill(element, ...content) {
  element.replaceChildren(...content.flat(Infinity).filter((part) => part != null));
  return element;
}

/** Return a degree as text, short, but never as 0 or 1 if it is not: 0.3, 0.0625, 0.999994, 1. */
export function degreeText(degree) {
  const short = Number(degree.toPrecision(4));
  if (short !== 1 || degree === 1) return String(short);
  const near = 1 - Number((1 - degree).toPrecision(1));
  return String(near < 1 ? near : degree);
}

/** Return a count as text: 12,345. */
export const counted = (number) => number.toLocaleString("en");

/** Return "a", "a and b" or "a, b and c"; of more than `most` texts the number of the others. */
export function listed(texts, joint = "and", most = 5) {
  const shown = texts.length > most ? [...texts.slice(0, most), `${texts.length - most} more`] : texts;
  if (shown.length < 2) return shown.join("");
  return `${shown.slice(0, -1).join(", ")} ${joint} ${shown.at(-1)}`;
}

/** Return a list of which `most` entries are shown, with a button for the others. */
export function shortList(entries, render, most = 5) {
  const list = make("ul", {}, entries.slice(0, most).map((entry) => make("li", {}, render(entry))));
  const left = entries.slice(most);
  if (left.length) {
    const open = () => {
      const added = left.map((entry) => make("li", {}, render(entry)));
      line.replaceWith(...added);
      added[0].tabIndex = -1;
      added[0].focus();
    };
    const line = make("li", {}, button(`${left.length} more`, open, { class: "link" }));
    list.append(line);
  }
  return list;
}
