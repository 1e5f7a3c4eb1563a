/** Bars of possibility and necessity, one row a value; each row is a button that asks why. */

import { button, degreeText, fill, make } from "./elements.js";
import { necessitiesOf } from "./engine.js";
import { nameOf, valueText } from "./words.js";

/** Values that are shown of a long domain: the most possible ones. */
const SHOWN_BARS = 12;

/** Return a bar: the wide part is how possible, the narrow one how certain. */
function bar(possibility, necessity) {
  const parts = [make("i", { class: "possible" }), make("i", { class: "certain" })];
  parts[0].style.width = `${100 * possibility}%`;
  parts[1].style.width = `${100 * necessity}%`;
  return make("span", { class: "bar", "aria-hidden": "true" }, parts);
}

function row(attribute, place, degree, necessity, onPick) {
  const numbers = `${degreeText(degree)} / ${degreeText(necessity)}`;
  const text =
    `${valueText(attribute, place)}: possible at ${degreeText(degree)}, ` +
    `certain at ${degreeText(necessity)}. Why?`;
  const parts = [
    make("span", { class: "value" }, attribute.values[place]),
    bar(degree, necessity),
    make("span", { class: "degrees" }, numbers),
  ];
  return button(parts, () => onPick(attribute, place), {
    class: "row",
    "aria-label": text,
    "data-attribute": attribute.name,
    "data-place": place,
  });
}

/** Return the places of the values to show, in the order of the domain, and how many are left. */
function shownPlaces(degrees, everything) {
  const places = [...degrees.keys()];
  if (everything || places.length <= SHOWN_BARS) return { places, left: 0 };
  const best = places.sort((i, j) => degrees[j] - degrees[i] || i - j).slice(0, SHOWN_BARS);
  return { places: best.sort((i, j) => i - j), left: degrees.length - best.length };
}

/**
 * Bars of one attribute, to be shown anew whenever degrees change.
 *
 * `onPick(attribute, place)` is called where a value is chosen.
 */
export class DistributionBars {
  constructor(attribute, onPick) {
    Object.assign(this, { attribute, onPick, everything: false });
    this.verdict = make("p", { class: "verdict", "aria-live": "polite" });
    this.rows = make("div", { class: "rows" });
    this.element = make(
      "section",
      { class: "bars", "aria-label": nameOf(attribute) },
      make("h3", {}, nameOf(attribute)),
      this.verdict,
      this.rows,
    );
  }

  /** Show degrees and the verdict; `height` is below 1 where the rules contradict each other. */
  show(degrees, height, verdict) {
    const { shown } = this;
    if (degrees === shown?.degrees && height === shown.height && verdict === shown.verdict) return;
    this.shown = { degrees, height, verdict };
    const necessities = necessitiesOf(degrees);
    const { places, left } = shownPlaces(degrees, this.everything);
    fill(this.verdict, verdict);
    this.verdict.classList.toggle("error", height < 1);
    // Where rules contradict each other, nothing is certain.
    const certain = (i) => (height < 1 ? 0 : Math.max(necessities[i], 0));
    const rows = places.map((i) => row(this.attribute, i, degrees[i], certain(i), this.onPick));
    fill(this.rows, rows, left ? this.moreButton(left) : null);
  }

  moreButton(left) {
    const { degrees, height, verdict } = this.shown;
    const onclick = () => {
      Object.assign(this, { everything: true, shown: null });
      this.show(degrees, height, verdict);
      this.rows.firstChild.focus();
    };
    return button(`${left} more values`, onclick, { class: "link" });
  }
}
