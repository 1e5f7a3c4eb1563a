import { fill, make } from "../elements.js";

/** Show what the rules make of the sample. */
export async function open(place, studio) {
  const show = async () => {
    const { degrees } = await studio.ask("sample/infer", { sample: studio.sample });
    fill(place, make("pre", {}, JSON.stringify(degrees, null, 1)));
  };
  studio.addEventListener("sample", () => studio.attempt(show));
  await show();
}
