// Share of each head's attention on each block, as a table whose cells are bars.
import { chip } from "./pictures.js";
import { css, paletteOf } from "./colour.js";
import { blockMasses, hasShares } from "./data.js";
import { element, scrolling } from "./dom.js";
import { placeName, placesOf } from "./terms.js";
import { shareTable } from "./numbers.js";
import { fileName, saving } from "./saving.js";
import { lagWords, number, percent } from "./words.js";

/** "lags 1–2", or how strong the feature is that sits there. */
const smallWords = (run, lags, block) =>
  run.places ? (run.task.strengths ? `strength ${number(run.task.strengths[block])}` : "") : lagWords(lags);

export function mountMasses(host, report, selection) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  let cells = [];
  const name = () => fileName(run().label, "seed", run().seeds[state.seed], "shares");
  const files = () => saving("the bars", name, () => shareTable(run(), state), null);

  const layerWords = () =>
    run().layers > 1 ? element("span", { class: "quiet" }, `, layer ${state.layer + 1}`) : null;
  const build = () => {
    host.hidden = !hasShares(run());
    if (host.hidden) return void (cells = []);
    const palette = paletteOf(run());
    const blocks = run().groups.map((group) => group.lags);
    const places = placesOf(run());
    const bar = (head) => {
      const fill = element("span", { class: "fill", style: { background: css(palette.heads[head]) } });
      const words = element("span", { class: "share" });
      return { fill, words, cell: element("td", {}, element("span", { class: "bar" }, fill), words) };
    };
    cells = Array.from({ length: run().heads }, (_, head) => [...blocks, null].map(() => bar(head)));
    const header = blocks.map((lags, block) =>
      element(
        "th",
        { scope: "col" },
        element("span", { style: { color: palette.groupWords[block] } }, placeName(places, block)),
        element("small", {}, smallWords(run(), lags, block)),
      ),
    );
    host.replaceChildren(
      element("h3", {}, `Share of attention on each ${places.word}`, layerWords(), files()),
      scrolling(
        element(
          "table",
          { class: "mass-table", style: { "--columns": blocks.length + 1 } },
          element(
            "thead",
            {},
            element("tr", {}, element("td"), header, element("th", { scope: "col" }, "the rest")),
          ),
          element(
            "tbody",
            {},
            cells.map((row, head) =>
              element(
                "tr",
                {},
                element("th", { scope: "row", "aria-label": `head ${head + 1}` }, chip(head, palette)),
                row.map((entry) => entry.cell),
              ),
            ),
          ),
        ),
      ),
    );
    draw();
  };
  const draw = () => {
    const masses = blockMasses(run(), state.seed, state.layer, state.time);
    cells.forEach((row, head) =>
      row.forEach(({ fill, words }, block) => {
        const mass = block < row.length - 1 ? masses[head].blocks[block] : masses[head].elsewhere;
        // Scaling needs no new layout, a width would.
        fill.style.transform = `scaleX(${Number.isFinite(mass) ? Math.min(1, Math.max(0, mass)) : 0})`;
        words.textContent = percent(mass);
      }),
    );
  };
  build();
  selection.watch((_, changed) => (["run", "layer", "theme"].some((name) => changed.has(name)) ? build() : draw()));
}
