// What each head passes on along each feature: bars with a sign, to the right if positive.
import { css, paletteOf } from "./colour.js";
import { element, scrolling } from "./dom.js";
import { chip } from "./pictures.js";
import { number } from "./words.js";

/** The largest value of the run, either way: bars of all times share one scale. */
export const largestValue = (run) =>
  run.arrays.values.values.reduce((most, value) => (Math.abs(value) > most ? Math.abs(value) : most), 1e-9);

export function mountValues(host, report, selection) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  let cells = [];
  let scale = 1;

  const build = () => {
    host.hidden = !(run().places && run().arrays.values && run().task.strengths);
    if (host.hidden) return void (cells = []);
    const palette = paletteOf(run());
    const { strengths } = run().task;
    scale = Math.max(largestValue(run()), strengths[0]);
    const bar = (head, strength) => {
      const fill = element("span", { class: "fill", style: { background: css(palette.heads[head]) } });
      const goal = element("i", { class: "goal", style: { left: `${50 + (50 * strength) / scale}%` } });
      const words = element("span", { class: "share" });
      return { fill, words, cell: element("td", {}, element("span", { class: "bar signed" }, fill, goal), words) };
    };
    cells = Array.from({ length: run().heads }, (_, head) => strengths.map((strength) => bar(head, strength)));
    const header = strengths.map((_, k) =>
      element(
        "th",
        { scope: "col" },
        element("span", { style: { color: palette.groupWords[k] } }, `feature ${k + 1}`),
      ),
    );
    const rows = cells.map((row, head) =>
      element(
        "tr",
        {},
        element("th", { scope: "row", "aria-label": `head ${head + 1}` }, chip(head, palette)),
        row.map((entry) => entry.cell),
      ),
    );
    host.replaceChildren(
      element("h3", {}, "Value of each head along each feature"),
      scrolling(
        element(
          "table",
          { class: "mass-table", style: { "--columns": strengths.length } },
          element("thead", {}, element("tr", {}, element("td"), header)),
          element("tbody", {}, rows),
        ),
      ),
      element("p", { class: "quiet" }, "⟨V, V*⟩; negative to the left. A mark stands at the strength of the feature."),
    );
    draw();
  };
  const draw = () =>
    cells.forEach((row, head) =>
      row.forEach(({ fill, words }, feature) => {
        const value = run().arrays.values.at(state.seed, run().nearest[state.time], head, feature);
        // A negative scale turns the bar over to the left of the middle, where it begins.
        fill.style.transform = `scaleX(${Number.isFinite(value) ? (value / scale).toFixed(4) : 0})`;
        words.textContent = number(Math.abs(value) < 5e-4 ? 0 : value);
      }),
    );
  build();
  selection.watch((_, changed) => (changed.has("run") || changed.has("theme") ? build() : draw()));
}
