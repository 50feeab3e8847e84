// A row of buttons of which one is pressed.
import { element } from "./dom.js";
import { fullName } from "./terms.js";

/** `options` are [{value, words, disabled}], the first of them pressed; `choose(value)` hears of every other press. */
export function makeChoice(label, options, choose) {
  const buttons = options.map(({ value, words, disabled }) =>
    element("button", { type: "button", class: "option", disabled, onclick: () => set(value) }, words),
  );
  const press = (value) =>
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(options[i].value === value)));
  const set = (value) => {
    press(value);
    choose(value);
  };
  press(options[0].value);
  return { host: element("div", { class: "options", role: "group", "aria-label": label }, buttons), set };
}

/** Runs by label, under the title of their section where they have one. */
export function runOptions(runs) {
  const option = (run) => element("option", { value: runs.indexOf(run) }, fullName(run)); // closed, it shows no section
  const sections = [...new Set(runs.map((run) => run.section ?? ""))];
  return sections.flatMap((section) => {
    const own = runs.filter((run) => (run.section ?? "") === section).map(option);
    return section ? [element("optgroup", { label: section }, own)] : own;
  });
}
