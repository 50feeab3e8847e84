// The key of the charts, in HTML: it wraps on narrow screens, can be reached by keyboard, and hides lines.
import { paletteOf, readTheme } from "./colour.js";
import { diverged } from "./data.js";
import { element } from "./dom.js";
import { arrivals, countedSeeds } from "./stages.js";
import { ladderOf } from "./traces.js";
import { counted } from "./words.js";

function sample(className, colour) {
  return element("span", {
    class: `sample ${className}`,
    style: { "--line": colour },
    "aria-hidden": "true",
  });
}

/** "f<sub>1:2</sub>" as elements; the names are ours, not a run's, and still nothing is parsed as markup. */
function named(name) {
  const parts = name.match(/^(.*)<sub>(.*)<\/sub>$/);
  return parts ? element("span", { class: "symbol" }, parts[1], element("sub", {}, parts[2])) : name;
}

export function mountLegend(host, report, selection) {
  const { state } = selection;
  const draw = () => {
    const run = report.runs[state.run];
    const theme = readTheme();
    const ladder = ladderOf(run, state, paletteOf(run));
    const several = countedSeeds(run).length > 1;
    const focused = [...host.children].indexOf(document.activeElement);
    const rungs = ladder.names.map((name, rung) => {
      const key = `${state.ladder} ${rung}`;
      const toggle = () => {
        const hidden = new Set(state.hidden);
        hidden.has(key) ? hidden.delete(key) : hidden.add(key);
        selection.set({ hidden });
      };
      return element(
        "button",
        {
          type: "button",
          class: "key",
          "aria-pressed": String(!state.hidden.has(key)),
          onclick: toggle,
          title: "Show or hide this curve",
        },
        sample("thick", ladder.colours[rung]),
        named(name),
      );
    });
    const notes = [
      several && [sample("thick", theme.ink), `median of ${counted(countedSeeds(run).length, "seed")}`],
      several && [sample("", theme.ink), `seed ${run.seeds[state.seed]}`],
      several && [sample("faint", theme.ink), "the others"],
      run.facts.rung_excess && [sample("dotted", theme.muted), "level of a rung"],
      arrivals(run).some((move) => Number.isFinite(move.step)) && [
        sample("upright", theme.muted),
        several ? "median change of stage" : "change of stage",
      ],
      run.seeds.some((_, seed) => diverged(run, seed)) && ["✕ ", "diverged"],
    ].filter(Boolean);
    host.replaceChildren(...rungs, ...notes.map((note) => element("span", { class: "note" }, note)));
    if (focused >= 0) host.children[focused]?.focus();
  };
  draw();
  selection.watch((_, changed) => {
    if (["run", "seed", "ladder", "hidden", "theme"].some((name) => changed.has(name))) draw();
  });
}
