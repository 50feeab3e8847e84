// The heads in the triangle of blocks: where each one stands at the slider's time, and the way that it took.
import { captioned, shownWords } from "./caption.js";
import { paletteOf } from "./colour.js";
import { evaluationMasses, hasShares } from "./data.js";
import { drawn, drawToWidth, element } from "./dom.js";
import { placesOf, when } from "./terms.js";
import { shareTable } from "./numbers.js";
import { allHeads, tellAtPointer } from "./pictures.js";
import { fileName, saving, svgFile } from "./saving.js";
import { headParts, outline, pathThrough, placeHeads, triangleLayout, ways } from "./stand.js";
import { joined, percent } from "./words.js";

const WIDEST = 430;

/** `beside` is where a run that has no pictures of heads has room for it. */
export function mountTriangle(host, report, selection, beside) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  const home = host.parentElement;
  const plot = element("div", { class: "triangle" });
  const hint = element("p", { class: "quiet" });
  let drawing = null; // {svg, layout, parts, paths}
  const name = () => fileName(run().label, "seed", run().seeds[state.seed], "shares");
  const title = () => {
    const place = shownWords(run(), state, when(run(), run().times[state.time]));
    return { title: `Shares of attention on each ${run().place}, by head. ${place}` };
  };
  const picture = () => captioned(svgFile(drawing.svg), title());
  const files = saving("the shares", name, () => shareTable(run(), state), picture);
  host.append(element("figcaption", {}, "Attention of the heads"), plot, hint, files);

  const sharesNow = () =>
    evaluationMasses(run(), state.seed, state.layer, run().shareNearest[state.time] ?? 0).map(
      ({ blocks }, head) => `head ${head + 1}: ${blocks.map(percent).join(", ")}`,
    );
  const follow = () => {
    if (!drawing) return;
    const { svg, parts, paths } = drawing;
    const now = run().shareNearest[state.time] ?? 0;
    placeHeads(parts, paths.map((path) => path[now]));
    parts.forEach(({ past }, head) => past.setAttribute("d", pathThrough(paths[head].slice(0, now + 1))));
    const lead = `Shares of attention on each ${run().place} at ${when(run(), run().times[state.time])}.`;
    svg.setAttribute("aria-label", `${lead} ${sharesNow().join("; ")}`);
  };
  const trace = () => {
    if (!drawing) return;
    const { layout, parts } = drawing;
    drawing.paths = ways(run(), state.seed, state.layer).map((way) => way.map(layout.at));
    parts.forEach(({ whole }, head) => whole.setAttribute("d", pathThrough(drawing.paths[head])));
    follow();
  };
  const redraw = () => {
    const width = Math.min(WIDEST, Math.floor(plot.clientWidth));
    if (host.hidden || width < 50) return;
    const palette = paletteOf(run());
    const layout = triangleLayout(run().groups.length, width);
    const parts = allHeads(run()).map((head) => headParts(head, palette));
    const lines = ["whole", "past", "tether", "dot"].map((name) => parts.map((part) => part[name]));
    const flags = parts.map((part) => [part.flag, part.word]);
    const size = { width, height: layout.height, viewBox: `0 0 ${width} ${layout.height}`, role: "img" };
    const svg = drawn("svg", size, outline(run(), layout, palette), lines, flags);
    plot.replaceChildren(svg);
    drawing = { svg, layout, parts, paths: [] };
    trace();
  };
  const build = () => {
    drawing = null;
    host.hidden = !hasShares(run());
    if (!run().pictures) beside.append(host);
    else if (host.parentElement !== home) home.prepend(host);
    const { place } = run();
    hint.textContent = `A corner means all attention on one ${place}; attention elsewhere moves a head to the middle. Dots are exact; numbers that would overlap are moved apart.`;
    redraw();
  };

  tellAtPointer(plot, () => {
    return [`on ${joined(placesOf(run()).names)}`, ...sharesNow()];
  });
  build();
  drawToWidth(plot, redraw, selection);
  selection.watch((_, changed) => {
    if (changed.has("run") || changed.has("theme")) build();
    else if (changed.has("seed") || changed.has("layer")) trace();
    else if (changed.has("time")) follow();
  });
}
