/**
 * Controls of the inputs: a choice of a value, a number, or a slider for each degree.
 *
 * What an input is set to is plain data: {value: place}, {number: x}, {degrees: [...]} or {} where
 * nothing is known.
 */

import { degreeText, fill, listed, make } from "./elements.js";
import { degreesOfNumber } from "./engine.js";
import { nameOf } from "./words.js";

/** What choices are called that are no values. */
const UNKNOWN = "unknown";
const BY_DEGREES = "by degrees";
/** Values that are shown with their degrees before the sliders are opened. */
const SUMMARISED = 3;

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
  return `No value of ${nameOf(attribute)} is fully possible: move one of them to 1.`;
}

/** Return the most possible values with their degrees. */
function summaryOf({ values }, degrees) {
  const places = [...degrees.keys()].filter((i) => degrees[i] > 0);
  places.sort((i, j) => degrees[j] - degrees[i] || i - j);
  const texts = places.map((i) => `${values[i]}: ${degreeText(degrees[i])}`);
  return `degrees ${listed(texts, "and", SUMMARISED)}`;
}

/** Return the range of a number's slider: that of the cuts and of the numbers seen, and a bit. */
export function rangeOf(scale, numbers) {
  const known = [...scale.limits, ...numbers];
  if (!known.length) return [0, 1];
  const low = known.reduce((a, b) => Math.min(a, b));
  const high = known.reduce((a, b) => Math.max(a, b));
  const beyond = (high - low || Math.abs(high) || 1) / 4;
  return [low - beyond, high + beyond];
}

/** The control of one input; `onChange()` is called when its setting is another. */
export class InputControl {
  constructor(attribute, onChange, numbers = []) {
    Object.assign(this, { attribute, onChange, setting: {} });
    this.image = make("img", { alt: "", hidden: true });
    this.problem = make("p", { class: "problem error", role: "alert" });
    this.summary = make("summary", {});
    this.sliders = make("div", { class: "sliders" });
    this.details = make(
      "details",
      { ontoggle: () => this.showSliders() },
      this.summary,
      this.sliders,
    );
    const fields = attribute.scale ? this.numberFields(numbers) : [this.choice()];
    this.element = make(
      "div",
      { class: "input", role: "group", "aria-label": nameOf(attribute) },
      this.image,
      make("div", { class: "fields" }, make("b", {}, nameOf(attribute)), fields),
      this.details,
      this.problem,
    );
    this.show();
  }

  choice() {
    const { values } = this.attribute;
    this.select = make(
      "select",
      { "aria-label": nameOf(this.attribute), onchange: () => this.choose() },
      values.map((text, place) => make("option", { value: place }, text)),
      make("option", { value: UNKNOWN }, UNKNOWN),
      make("option", { value: BY_DEGREES, hidden: true }, BY_DEGREES),
    );
    return this.select;
  }

  choose() {
    const chosen = this.select.value;
    this.change(chosen === UNKNOWN ? {} : { value: Number(chosen) });
  }

  numberFields(numbers) {
    const [min, max] = rangeOf(this.attribute.scale, numbers);
    const name = nameOf(this.attribute);
    const read = (field) => () => {
      const number = Number(field.value);
      this.change(field.value === "" || !Number.isFinite(number) ? {} : { number });
    };
    this.number = make("input", { type: "number", step: "any", "aria-label": name });
    this.number.placeholder = UNKNOWN;
    this.range = make("input", { type: "range", step: "any", min, max });
    this.range.setAttribute("aria-label", `${name}, slider`);
    this.number.addEventListener("input", read(this.number));
    this.range.addEventListener("input", read(this.range));
    return [this.number, this.range];
  }

  /** Take another setting, made here by hand. */
  change(setting) {
    this.set(setting);
    this.onChange();
  }

  /** Take another setting, and an image of what is seen. */
  set(setting, image = this.image.src) {
    this.setting = setting;
    this.image.hidden = !image;
    if (image) this.image.src = image;
    else this.image.removeAttribute("src");
    this.image.alt = image ? `what is seen of ${nameOf(this.attribute)}` : "";
    this.show();
  }

  focus() {
    (this.select ?? this.number).focus();
  }

  get degrees() {
    return degreesOf(this.attribute, this.setting);
  }

  show() {
    const { number, value, degrees } = this.setting;
    if (this.select) {
      const known = value === undefined ? UNKNOWN : String(value);
      this.select.value = degrees ? BY_DEGREES : known;
    } else if (document.activeElement !== this.number) {
      this.number.value = number ?? "";
      this.number.placeholder = degrees || value !== undefined ? BY_DEGREES : UNKNOWN;
    }
    if (this.range && number !== undefined) this.range.value = number;
    fill(this.summary, summaryOf(this.attribute, this.degrees));
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
      fill(shown, degreeText(degrees[place]));
    });
  }

  slider(text, place) {
    const range = make("input", { type: "range", min: 0, max: 1, step: "any" });
    range.setAttribute("aria-label", `possibility of ${nameOf(this.attribute)} = ${text}`);
    range.addEventListener("input", () => {
      const degrees = Array.from(this.degrees);
      degrees[place] = Number(range.value);
      this.change({ degrees });
    });
    return make("label", {}, make("span", {}, text), range, make("output", {}));
  }
}
