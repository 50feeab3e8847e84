// Attention by lag as small bar charts, layer by head, where no groups of lags sum it up; bars follow the slider.
import { css, paletteOf } from "./colour.js";
import { drawn, element } from "./dom.js";
import { allHeads, chip, shownLayers, tellAtPointer } from "./pictures.js";
import { headName, oneHeadEach } from "./terms.js";
import { number, percent, sentence } from "./words.js";

const BARS = { width: 240, height: 70 };
const MOST_BARS = 64; // of more lags, neighbours share a bar

/** Lags as bars: [[first, last]], one lag each while they are few. */
export function bins(lags) {
  const each = Math.ceil(lags / MOST_BARS);
  return Array.from({ length: Math.ceil(lags / each) }, (_, k) => [k * each + 1, Math.min(lags, (k + 1) * each)]);
}

export function mountLags(host, report, selection) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  let charts = [];
  let most = 1;

  const sumOf = (profile, [first, last]) => {
    let sum = 0;
    for (let lag = first; lag <= last; lag++) sum += Number.isFinite(profile[lag - 1]) ? profile[lag - 1] : 0;
    return sum;
  };
  const profileOf = (layer, head) =>
    run().arrays.attention_by_lag.row(state.seed, run().shareNearest[state.time], layer, head);
  const makeChart = (layer, head, all) => {
    const palette = paletteOf(run());
    const width = BARS.width / all.length;
    const colour = css(palette.heads[head]);
    const bars = all.map((_, k) =>
      drawn("rect", { x: (k + 0.08) * width, width: 0.84 * width, y: 0, height: 0, fill: colour }),
    );
    const axis = drawn("line", { class: "base", x1: 0, x2: BARS.width, y1: BARS.height, y2: BARS.height });
    // Words of the page, not of the drawing: in a narrow column they would shrink with it.
    const marks = element("div", { class: "ends quiet", "aria-hidden": "true" }, element("span", {}, "lag 1"), element("span", {}, `${all.at(-1)[1]}`));
    const box = { viewBox: `0 0 ${BARS.width} ${BARS.height}`, role: "img" };
    const svg = drawn("svg", box, bars, axis);
    const words = element("span", { class: "quiet" });
    const title = headName(run(), layer, head);
    tellAtPointer(svg, (event) => {
      const edge = svg.getBoundingClientRect();
      const bin = all[Math.floor(((event.clientX - edge.left) / edge.width) * all.length)];
      if (!bin) return null;
      const name = bin[0] === bin[1] ? `lag ${bin[0]}` : `lags ${bin[0]}–${bin[1]}`;
      return [title, `${name}: ${number(sumOf(profileOf(layer, head), bin))}`];
    });
    // The number on its colour says which head: a whole name would be wider than its chart.
    const name = oneHeadEach(run()) || (run().layers < 2 && run().heads < 5) ? `${sentence(title)} ` : run().layers > 1 ? `layer ${layer + 1} ` : "";
    const caption = element("figcaption", {}, oneHeadEach(run()) ? null : chip(head, palette), name, words);
    return { layer, head, bars, svg, words, all, figure: element("figure", { class: "small-chart" }, caption, svg, marks) };
  };
  const draw = () => {
    for (const { layer, head, bars, words, all, svg } of charts) {
      const profile = profileOf(layer, head);
      const sums = all.map((bin) => sumOf(profile, bin));
      bars.forEach((bar, k) => {
        const height = (BARS.height * Math.min(sums[k], most)) / most;
        bar.setAttribute("height", height.toFixed(2));
        bar.setAttribute("y", (BARS.height - height).toFixed(2));
      });
      const top = sums.indexOf(Math.max(...sums));
      const [first, last] = all[top];
      words.textContent = `most at lag ${first === last ? first : `${first}–${last}`}: ${percent(sums[top])}`;
      svg.setAttribute("aria-label", `Attention by lag of ${headName(run(), layer, head)}; ${words.textContent}`);
    }
  };
  const build = () => {
    const grid = run().groups.length ? null : run().arrays.attention_by_lag;
    host.hidden = !grid || !run().shareTimes.length;
    if (host.hidden) return void (charts = []);
    const all = bins(grid.shape[4]);
    // One scale for all heads and times, so that a bar that grows is one.
    const each = all[0][1];
    most = Math.min(1, each * grid.values.reduce((high, value) => (value > high ? value : high), 1e-6));
    charts = shownLayers(run(), state).flatMap((layer) => allHeads(run()).map((head) => makeChart(layer, head, all)));
    const where = !run().pictures ? "" : run().queries === 1 ? "of the last position; " : "mean over the query positions; ";
    const scale = element("span", { class: "quiet" }, `${where}bars up to ${number(most)}; lag 1 is the newest position`);
    const columns = Math.min(run().heads === 1 ? run().layers : run().heads, 4);
    const look = { class: "small-charts", style: { "--columns": columns } };
    host.replaceChildren(
      element("h3", {}, "Attention by lag ", scale),
      element("div", look, charts.map(({ figure }) => figure)),
    );
    draw();
  };

  build();
  selection.watch((_, changed) => {
    const another = changed.has("layer") && shownLayers(run(), state).length < run().layers;
    if (changed.has("run") || changed.has("theme") || another) build();
    else if (!host.hidden && (changed.has("time") || changed.has("seed"))) draw();
  });
}
