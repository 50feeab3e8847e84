// A row of buttons of which one is pressed.
import { element } from "./dom.js";

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
