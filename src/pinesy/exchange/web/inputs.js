/**
 * Evidence rows: what is known of an input, set as a value, a number, unknown, or by degrees.
 *
 * A setting is plain data: {value: place}, {number: x}, {degrees: [...]} or {} where nothing is
 * known.
 */

import { button, fill, make } from "./elements.js";
import { degreesOfNumber } from "./engine.js";
import { bar, shortDegree } from "./parts.js";

/** Values, and characters of them in all, up to which a choice is shown as segments. */
const SEGMENTS = 4;
const SEGMENT_CHARACTERS = 34;
/** Values that a reading shows, the most possible. */
const READ_VALUES = 3;
/** The least distance of two labels of a scale, as a share of it. */
const TICK_GAP = 0.2;

/** Return the degrees that a setting of an input means. */
export function degreesOf(attribute, setting) {
  const size = attribute.values.length;
  if (setting.degrees) return Float64Array.from(setting.degrees);
  if (setting.number !== undefined) return degreesOfNumber(attribute.scale, setting.number);
  if (setting.value === undefined) return new Float64Array(size).fill(1);
  return Float64Array.from({ length: size }, (_, i) => (i === setting.value ? 1 : 0));
}

/** Return what is wrong with a setting; an empty text if nothing is. */
export function problemOf(attribute, setting) {
  if (!setting.degrees || setting.degrees.some((degree) => degree === 1)) return "";
  return `No value of ${attribute.title} is fully possible: move one of them to 1.`;
}

/** Return whether a setting says nothing. */
export const isUnknown = ({ value, number, degrees }) =>
  value === undefined && number === undefined && (!degrees || degrees.every((degree) => degree === 1));

/** Return the range of a number's slider: that of the cuts and of the numbers seen, and a bit. */
export function rangeOf(scale, numbers) {
  const known = [...scale.limits, ...numbers];
  if (!known.length) return [0, 1];
  const low = known.reduce((a, b) => Math.min(a, b));
  const high = known.reduce((a, b) => Math.max(a, b));
  const beyond = (high - low || Math.abs(high) || 1) / 4;
  return [low >= 0 ? Math.max(0, low - beyond) : low - beyond, high + beyond];
}

/** Return the most possible values of an input with their bars; as many lines where there are none. */
export function readingBars(attribute, setting) {
  const degrees = isUnknown(setting) ? [] : degreesOf(attribute, setting);
  const order = [...degrees.keys()].sort((i, j) => degrees[j] - degrees[i] || i - j).slice(0, READ_VALUES);
  const lines = order.map((place, rank) => {
    const certain = rank === 0 ? 1 - (degrees[order[1]] ?? 0) : 0;
    return make(
      "div",
      {},
      make("b", {}, attribute.values[place]),
      bar(degrees[place], certain),
      make("span", {}, shortDegree(degrees[place])),
    );
  });
  while (lines.length < Math.min(READ_VALUES, attribute.values.length)) lines.push(make("div", {}));
  return make("div", { class: "reading" }, lines);
}

/** The row of one input; `onChange()` is called when its setting is another. */
export class EvidenceRow {
  constructor(attribute, onChange, numbers = []) {
    Object.assign(this, { attribute, onChange, setting: {}, last: null });
    const { title, unit = "", scale } = attribute;
    this.image = make("img", { alt: "", class: "seen", hidden: true });
    this.problem = make("p", { class: "problem", role: "alert" });
    this.unknown = button("unknown", () => this.toggle(), { class: "unknown", "aria-label": `${title} is unknown` });
    this.control = scale ? this.number(numbers) : this.choice();
    this.reading = make("div", {});
    this.sliders = make("div", { class: "sliders" });
    this.details = make(
      "details",
      { class: "by-degrees", ontoggle: () => this.showSliders() },
      make("summary", {}, "not sure: set degrees"),
      this.sliders,
    );
    this.element = make(
      "div",
      { class: "field", role: "group", "aria-label": title, "data-input": attribute.name },
      make(
        "div",
        { class: "name" },
        make("i", { class: "dot", title: "decides" }),
        make("b", {}, title),
        make("span", { class: "unit" }, unit),
        this.unknown,
      ),
      make("div", { class: "control" }, this.control, this.image),
      this.reading,
      this.details,
      this.problem,
    );
    this.show();
  }

  choice() {
    const { values, title } = this.attribute;
    const isShort = values.length <= SEGMENTS && values.join("").length <= SEGMENT_CHARACTERS;
    return isShort ? this.segments(values, title) : this.select(values, title);
  }

  segments(values, title) {
    const name = `choice ${this.attribute.name}`;
    this.radios = values.map((text, value) =>
      make("input", { type: "radio", name, value, "aria-label": text, onchange: () => this.change({ value }) }),
    );
    const segment = (radio, i) => make("label", {}, radio, make("span", { "aria-hidden": "true" }, values[i]));
    return make("div", { class: "choice", role: "radiogroup", "aria-label": title }, this.radios.map(segment));
  }

  select(values, title) {
    this.options = make(
      "select",
      { "aria-label": title, onchange: () => this.change({ value: Number(this.options.value) }) },
      make("option", { value: "", disabled: true }, "–"),
      values.map((text, value) => make("option", { value }, text)),
    );
    return this.options;
  }

  number(numbers) {
    const { title, scale } = this.attribute;
    const [min, max] = rangeOf(scale, numbers);
    const read = (field) => () => {
      const number = Number(field.value);
      this.change(field.value === "" || !Number.isFinite(number) ? {} : { number });
    };
    this.field = make("input", { type: "number", step: "any", "aria-label": title });
    this.range = make("input", { type: "range", step: (max - min) / 500, min, max, "aria-label": `${title}, slider` });
    this.field.addEventListener("input", read(this.field));
    this.range.addEventListener("input", read(this.range));
    return make("div", { class: "numeric" }, this.field, make("div", { class: "track" }, this.range, ticks(scale.limits, min, max)));
  }

  /** Say that nothing is known, or take back what was known before. */
  toggle() {
    if (!isUnknown(this.setting)) {
      this.last = this.setting;
      this.change({});
    } else this.change(this.last ?? this.first());
  }

  /** Return a setting to begin with. */
  first() {
    const { scale } = this.attribute;
    if (!scale) return { value: 0 };
    return { number: Number(((Number(this.range.min) + Number(this.range.max)) / 2).toPrecision(3)) };
  }

  /** Take another setting, made here by hand. */
  change(setting) {
    this.set(setting, "");
    this.onChange();
  }

  /** Take another setting, and an image of what is seen. */
  set(setting, image = "") {
    this.setting = setting;
    this.image.hidden = !image;
    if (image) this.image.src = image;
    else this.image.removeAttribute("src");
    this.image.alt = image ? `what is seen of ${this.attribute.title}` : "";
    this.show();
  }

  get degrees() {
    return degreesOf(this.attribute, this.setting);
  }

  /** Mark the input as one that decides; `kind` is "lit", "conflict" or "". */
  set mark(kind) {
    this.element.dataset.mark = kind;
  }

  show() {
    const { number, value, degrees } = this.setting;
    const unknown = isUnknown(this.setting);
    this.element.classList.toggle("is-unknown", unknown);
    this.unknown.setAttribute("aria-pressed", String(unknown));
    this.radios?.forEach((radio, i) => (radio.checked = i === value));
    if (this.options) this.options.value = value ?? "";
    if (this.field) {
      if (document.activeElement !== this.field) this.field.value = number === undefined ? "" : Number(number.toPrecision(10));
      this.field.placeholder = value === undefined ? (degrees ? "degrees" : "") : this.attribute.values[value];
      if (number < Number(this.range.min)) this.range.min = number;
      if (number > Number(this.range.max)) this.range.max = number;
      this.range.value = number ?? (Number(this.range.min) + Number(this.range.max)) / 2;
    }
    this.reading.hidden = !degrees || unknown;
    fill(this.reading, this.reading.hidden ? null : readingBars(this.attribute, this.setting));
    fill(this.problem, problemOf(this.attribute, this.setting));
    this.showSliders();
  }

  /** Show a slider for each value, if they are to be seen. */
  showSliders() {
    if (!this.details.open) return;
    const degrees = this.degrees;
    if (this.sliders.children.length !== degrees.length) {
      fill(this.sliders, this.attribute.values.map((text, place) => this.slider(text, place)));
    }
    [...this.sliders.children].forEach((line, place) => {
      const [, range, shown] = line.children;
      if (Number(range.value) !== degrees[place]) range.value = degrees[place];
      fill(shown, shortDegree(degrees[place]));
    });
  }

  slider(text, place) {
    const range = make("input", { type: "range", min: 0, max: 1, step: "any" });
    range.setAttribute("aria-label", `possibility of ${this.attribute.title} = ${text}`);
    range.addEventListener("input", () => {
      const degrees = Array.from(this.degrees);
      degrees[place] = Number(range.value);
      this.change({ degrees });
    });
    return make("label", {}, make("span", {}, text), range, make("output", {}));
  }
}

/** Return labels below a slider where rules cut it; those that would overlap are left out. */
function ticks(cuts, min, max) {
  const shares = cuts.map((cut) => (cut - min) / (max - min));
  let last = -Infinity;
  const labels = cuts.map((cut, i) => {
    if (shares[i] - last < TICK_GAP) return null;
    last = shares[i];
    const label = make("i", {}, String(Number(cut.toPrecision(6))));
    label.style.left = `${100 * shares[i]}%`;
    return label;
  });
  return make("div", { class: "ticks", "aria-hidden": "true" }, labels);
}
