// The plane in which the next head moves, with the flow's own head on it; its dot follows the slider.
import { css, paletteOf, readTheme } from "./colour.js";
import { nearestIndex } from "./data.js";
import { drawn, drawToWidth, element } from "./dom.js";
import { drawPlane, lineThrough, planeLayout } from "./plane.js";
import { chip } from "./pictures.js";
import { fileName, saving, svgFile } from "./saving.js";
import { number } from "./words.js";

/** The head that looks most at the next position in the end. */
export function leavingHead(run, seed, known) {
  const last = run.times.length - 1;
  const shares = Array.from({ length: run.heads }, (_, head) => run.arrays.attention.at(seed, last, head, known));
  return shares.indexOf(Math.max(...shares));
}

/** Where that head has been in the plane's two numbers. */
export function shadow(run, seed, known, head) {
  return run.times.map((_, time) => [
    run.arrays.values.at(seed, time, head, known),
    run.arrays.attention.at(seed, time, head, known),
  ]);
}

function words({ known, strength, projections }) {
  const next = known + 1;
  const learnt = known === 1 ? "feature 1 is" : `${known} features are`;
  const system = known === 1 ? "system (11)" : "system of section D.2";
  const fate =
    projections === 1
      ? "Left of the dashed curve and below it y falls to 0 for good: such a head never learns the feature."
      : "Every start with y > 0 reaches the curve in the end, from negative x only after a long time.";
  return [
    `Once ${learnt} learnt, the head that leaves for feature ${next} follows the paper's ${system}. `,
    `A head with all of its attention on positions 1 and ${next}, and a value along feature ${next} only, keeps this form: `,
    "two numbers describe it completely, and this is their plane. Arrows show the direction of the flow, thin lines are orbits, ",
    "and small dots show where each orbit is after the slider's time. ",
    `They come to rest where y = 0 or on the thick curve x y = ${number(strength)}; every point of that curve predicts equally well, `,
    "because the settled heads offset the attention that is left behind. In the shaded region the paper's condition (12) holds. ",
    fate,
  ];
}

export function mountPortraits(host, report, selection) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  let views = [];

  const makeView = (portrait) => {
    const frame = element("div", { class: "plane" });
    const caption = element("p", { class: "quiet head-words" });
    const text = element("div", { class: "portrait-words" }, element("p", {}, words(portrait)), caption);
    const title = `The plane of the head that leaves for feature ${portrait.known + 1}`;
    const name = () => fileName(run().label, "seed", run().seeds[state.seed], "plane", portrait.known + 1);
    const files = saving("the plane", name, null, () => svgFile(frame.firstChild));
    const node = element("figure", { class: "portrait" }, element("h3", {}, title, files), frame, text);
    return { portrait, frame, caption, node, layout: null, parts: null };
  };
  const redraw = (view) => {
    const width = Math.min(720, view.frame.clientWidth);
    if (width < 50) return;
    view.layout = planeLayout(view.portrait, width);
    const { svg, moving } = drawPlane(view.portrait, view.layout, readTheme());
    view.frame.replaceChildren(svg);
    const { orbits } = view.portrait.arrays;
    const swarm = Array.from({ length: orbits.shape[1] }, () => drawn("circle", { class: "mote", r: 2.4 }));
    view.parts = {
      svg,
      swarm,
      whole: drawn("path", { class: "whole" }),
      past: drawn("path", { class: "past" }),
      dot: drawn("circle", { class: "head-dot", r: 7 }),
    };
    const { whole, past, dot } = view.parts;
    moving.append(...swarm, whole, past, dot);
    follow(view);
  };
  const place = (circle, layout, [x, y]) => {
    circle.setAttribute("cx", layout.x(x).toFixed(2));
    circle.setAttribute("cy", layout.y(y).toFixed(2));
  };
  const follow = (view) => {
    const { portrait, layout, parts } = view;
    if (!parts) return;
    const { known, arrays } = portrait;
    const palette = paletteOf(run());
    const head = leavingHead(run(), state.seed, known);
    const path = shadow(run(), state.seed, known, head);
    const colour = css(palette.heads[Math.max(0, head)]);
    for (const part of [parts.whole, parts.past]) part.style.stroke = colour;
    parts.dot.style.fill = colour;
    parts.whole.setAttribute("d", lineThrough(layout, path));
    parts.past.setAttribute("d", lineThrough(layout, path.slice(0, state.time + 1)));
    const [x, y] = path[state.time];
    parts.dot.style.display = Number.isFinite(x + y) ? "" : "none";
    if (Number.isFinite(x + y)) place(parts.dot, layout, [x, y]);
    const at = nearestIndex(portrait.times, run().times[state.time]);
    parts.swarm.forEach((mote, orbit) => {
      const point = arrays.orbits.row(at, orbit);
      const inside = point[0] >= portrait.window[0] && point[0] <= portrait.window[1];
      mote.style.display = inside ? "" : "none";
      if (inside) place(mote, layout, point);
    });
    const seen = `x = ${number(x)}, y = ${number(y)}, x y = ${number(x * y)}`;
    view.caption.replaceChildren(
      chip(Math.max(0, head), palette),
      ` The thick line and its dot are head ${head + 1} of this seed in the whole flow, seen on the same two axes: `,
      `now ${seen}. It takes more than two numbers to describe it, so it may cross the arrows.`,
    );
    const label = `Plane of value and attention; head ${head + 1} stands at ${seen}.`;
    parts.svg.setAttribute("aria-label", label);
  };
  const build = () => {
    views = run().portraits.map(makeView);
    host.hidden = !views.length;
    host.replaceChildren(...views.map((view) => view.node));
    views.forEach(redraw);
  };

  build();
  drawToWidth(host, () => views.forEach(redraw), selection);
  selection.watch((_, changed) => {
    if (changed.has("run") || changed.has("theme")) build();
    else if (changed.has("time") || changed.has("seed")) views.forEach(follow);
  });
}
