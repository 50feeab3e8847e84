// The key of the charts, in HTML: it wraps on narrow screens, can be reached by keyboard, and hides lines.
import { overlays } from "./align.js";
import { paletteOf, readTheme } from "./colour.js";
import { diverged } from "./data.js";
import { drawn, element } from "./dom.js";
import { dashKeys, lineKind, lookKeys } from "./linekeys.js";
import { chip } from "./pictures.js";
import { fullName, isHidden } from "./terms.js";
import { shownSeeds } from "./stages.js";
import { ladderOf } from "./traces.js";
import { counted } from "./words.js";

function sample(className, colour) {
  return element("span", {
    class: `sample ${className}`,
    style: { "--line": colour },
    "aria-hidden": "true",
  });
}

/** "f_{1:2}" as elements: nothing of a name is parsed as markup. */
function named(name) {
  const parts = name.match(/^(.*)_\{(.*)\}$/);
  return parts ? element("span", { class: "symbol" }, parts[1], element("sub", {}, parts[2])) : name;
}

/** What the second chart's lines are: [{key, content}], each a button that shows or hides them. */
function entries(run, state) {
  const palette = paletteOf(run);
  const kind = lineKind(run, state);
  if (!kind) return [];
  if (kind === "heads") {
    const heads = Array.from({ length: run.heads }, (_, head) => head);
    return heads.map((head) => ({ key: `heads ${head}`, content: [chip(head, palette), `head ${head + 1}`] }));
  }
  const ladder = ladderOf(run, state, palette);
  return ladder.names.map((name, rung) => ({
    key: `${state.ladder} ${rung}`,
    content: [sample("thick", ladder.colours[rung]), named(name)],
  }));
}

function dashed(pattern, colour) {
  const line = { x1: 0, x2: 26, y1: 4, y2: 4, stroke: colour, "stroke-width": 2 };
  const drawing = { width: 26, height: 8, "aria-hidden": "true" };
  return drawn("svg", drawing, drawn("line", { ...line, "stroke-dasharray": pattern }));
}

/** Which seeds the charts and their median show; the one that the pictures show always is among them. */
function seedChoice(run, selection, open) {
  const { left, seed: chosen } = selection.state;
  const choose = (seeds) => selection.set({ left: new Set(seeds) });
  const all = run.seeds.map((_, seed) => seed);
  const toggle = (seed) => choose(left.has(seed) ? [...left].filter((each) => each !== seed) : [...left, seed]);
  const button = (words, press, attributes = {}) =>
    element("button", { type: "button", class: "key", onclick: press, ...attributes }, words);
  const each = all.map((seed) => {
    const pressed = String(seed === chosen || !left.has(seed));
    return button(`${run.seeds[seed]}`, () => toggle(seed), { "aria-pressed": pressed, disabled: seed === chosen });
  });
  const every = button("all", () => choose([]));
  const alone = button("only this", () => choose(all));
  const words = `${shownSeeds(run, selection.state).length} of ${counted(run.seeds.length, "seed")} in the charts`;
  return element(
    "details",
    { class: "seed-choice", open },
    element("summary", {}, words),
    element("div", { class: "legend" }, every, alone, each),
  );
}

/** The run whose curves lie over the others, dashed: none unless it was asked for. */
function laidOver({ runs }, { run, other, otherSeed, over }) {
  const second = runs[other];
  return second && over && overlays(runs[run], second) ? [`${fullName(second)}, seed ${second.seeds[otherSeed]}`] : [];
}

export function mountLegend(host, report, selection) {
  const { state } = selection;
  const draw = () => {
    const run = report.runs[state.run];
    const theme = readTheme();
    const unfolded = host.querySelector("details")?.open;
    const parts = () => [...host.querySelectorAll("button, summary")];
    const focused = parts().indexOf(document.activeElement);
    const rungs = entries(run, state).map(({ key, content }) => {
      const toggle = () => {
        const hidden = new Set(state.hidden);
        hidden.has(key) ? hidden.delete(key) : hidden.add(key);
        selection.set({ hidden });
      };
      const title = "Show or hide this curve";
      const pressed = String(!isHidden(run, state, key));
      return element(
        "button",
        { type: "button", class: "key", "aria-pressed": pressed, onclick: toggle, title },
        content,
      );
    });
    const notes = [
      ...dashKeys(run, state).map(({ pattern, words }) => [dashed(pattern, theme.ink), words]),
      ...lookKeys(run, state).map(({ look, words, quiet }) => [sample(look, quiet ? theme.muted : theme.ink), words]),
      ...laidOver(report, state).map((words) => [sample("dashed", theme.second), words]),
      ...(run.seeds.some((_, seed) => diverged(run, seed)) ? [["✕ ", "diverged"]] : []),
    ];
    const choice = run.seeds.length > 1 ? seedChoice(run, selection, unfolded) : null;
    host.replaceChildren(...rungs, ...notes.map((note) => element("span", { class: "note" }, note)), choice ?? "");
    if (focused >= 0) parts()[focused]?.focus();
  };
  draw();
  selection.watch((_, changed) => {
    if (["run", "seed", "ladder", "hidden", "left", "theme", "other", "otherSeed", "over"].some((name) => changed.has(name))) draw();
  });
}
