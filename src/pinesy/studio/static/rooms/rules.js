import { fill, make } from "../elements.js";

/** Show the rules. */
export async function open(place, studio) {
  const { text } = await studio.ask("rules/text");
  fill(place, make("pre", { tabindex: 0 }, text));
}
