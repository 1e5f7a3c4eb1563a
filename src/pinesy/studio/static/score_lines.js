// A score card as it is: the lines that give points to each class, and what a lead is worth.
import { make } from "/shared/elements.js";
import { bar, shortDegree } from "/shared/parts.js";

/** Points that are drawn as squares; more are a number. */
const SQUARES = 12;
/** Leads that are listed; longer ones say what the last does. */
const LEADS = 10;

/** Return a score card; `card` is as `score_card_data` in Python gives it. */
export function scoreLines({ classes, leads }) {
  const shown = leads.slice(0, LEADS);
  return make(
    "div",
    { class: "card-columns" },
    classes.map(({ value, start, lines }) =>
      make(
        "section",
        { "aria-label": `Points for ${value}` },
        make("h3", {}, `Points for ${value}`),
        start ? line(null, "at the start", start) : null,
        lines.map(({ number, premise, points, record }) => line(number, premise, points, record)),
        start || lines.length ? null : make("p", { class: "quiet small" }, "No line gives it points."),
      ),
    ),
    shown.length
      ? make(
          "section",
          { "aria-label": "What a lead is worth" },
          make("h3", {}, "A lead of … is certain at"),
          make(
            "div",
            { class: "leads" },
            shown.map((certainty, i) => [
              make("span", {}, i ? `${i + 1} points` : "1 point"),
              bar(1, certainty),
              make("span", {}, shortDegree(certainty)),
            ]),
          ),
        )
      : null,
  );
}

function line(number, premise, points, record = "") {
  const squares = points <= SQUARES ? Array.from({ length: points }, () => make("i", {})) : null;
  return make(
    "div",
    { class: "points-line rule" },
    number === null ? make("span", {}) : make("span", { class: "number" }, number),
    make("span", { class: number === null ? "quiet" : "" }, premise, record ? make("span", { class: "record" }, record) : null),
    make("span", { class: "squares", "aria-label": `${points} points` }, squares, make("b", {}, `+${points}`)),
  );
}
