// Where the heads look: all of them blended in one picture, and each by itself.
import { blendInto, css, paletteOf, readTheme } from "./colour.js";
import { blockMasses, lagOf } from "./data.js";
import { drawToWidth, element } from "./dom.js";
import { makeMatrix, rampOf } from "./matrix.js";
import { number, percent } from "./words.js";

/** Every head in one image: blended, or as neighbouring stripes inside each cell. */
export function combinedImage(run, state, palette) {
  const parts = state.stripes ? run.heads : 1;
  const image = new ImageData(run.keys * parts, run.queries);
  const rows = Array.from({ length: run.heads }, (_, head) => matrixOf(run, state, head));
  const strengths = new Float32Array(run.heads);
  for (let cell = 0; cell < run.keys * run.queries; cell++) {
    for (let head = 0; head < run.heads; head++) {
      const value = rows[head][cell] / palette.full;
      strengths[head] = state.muted.has(head) || !(value > 0) ? 0 : Math.min(1, value);
    }
    if (parts === 1) blendInto(image.data, 4 * cell, strengths, palette);
    else for (let head = 0; head < parts; head++) blendInto(image.data, 4 * (cell * parts + head), only(strengths, head), palette);
  }
  return image;
}

const only = (strengths, head) => strengths.map((strength, other) => (other === head ? strength : 0));

function headImage(run, state, palette, head) {
  const image = new ImageData(run.keys, run.queries);
  const values = matrixOf(run, state, head);
  const strengths = new Float32Array(run.heads);
  for (let cell = 0; cell < values.length; cell++) {
    strengths[head] = values[cell] > 0 ? Math.min(1, values[cell] / palette.full) : 0;
    blendInto(image.data, 4 * cell, strengths, palette);
  }
  return image;
}

const matrixOf = (run, state, head) => run.arrays.attention.row(state.seed, state.time, state.layer, head);

/** A head's number on its colour: the number is the cue for those who do not see the colour. */
export function chip(head, palette) {
  const colour = palette.heads[head];
  const dark = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2] > 140;
  return element("span", { class: "chip", style: { background: css(colour), color: dark ? "#111" : "#fff" } }, `${head + 1}`);
}

/** The numbers behind a cell, shown beside the pointer. */
function followPointer(matrix, run, state, heads) {
  const tip = document.getElementById("tip");
  const show = (event) => {
    const cell = matrix.cellAt(run(), event);
    if (!cell) return void (tip.hidden = true);
    const lag = lagOf(run(), cell.query, cell.key);
    const first = run().keys - run().queries + 1;
    const blocks = run().task.blocks.flatMap((lags, block) => (lags.includes(lag) ? [block + 1] : []));
    const where = lag < 1 ? "the future, not seen" : `lag ${lag}, ${blocks.length ? `block ${blocks.join(" and ")}` : "in no block"}`;
    const value = (head) => matrixOf(run(), state, head)[cell.query * run().keys + cell.key];
    tip.replaceChildren(
      element("div", {}, `query ${first + cell.query} → key ${cell.key + 1}`),
      element("div", { class: "quiet" }, where),
      ...(lag < 1 ? [] : heads().map((head) => element("div", {}, `head ${head + 1}: ${number(value(head))}`))),
    );
    tip.hidden = false;
    const room = document.documentElement.clientWidth;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, room - tip.offsetWidth - 8))}px`;
    tip.style.top = `${event.clientY + 16}px`;
  };
  matrix.canvas.addEventListener("pointermove", show);
  matrix.canvas.addEventListener("pointerdown", show);
  matrix.canvas.addEventListener("pointerleave", () => (tip.hidden = true));
}

/** The blended picture with its key: click a head in the key to take it out of the blend. */
export function mountCombined(host, report, selection) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  const matrix = makeMatrix();
  const keyLine = element("div", { class: "legend" });
  const title = element("h3", {}, "All heads in one picture");
  const frame = element("div", { class: "frame" }, matrix.canvas);
  const scale = element("p", { class: "quiet scale" });
  host.append(title, keyLine, frame, scale);
  followPointer(matrix, run, state, () => Array.from({ length: run().heads }, (_, head) => head));

  const drawKey = (palette) => {
    const toggle = (head) => {
      const muted = new Set(state.muted);
      muted.has(head) ? muted.delete(head) : muted.add(head);
      selection.set({ muted });
    };
    const focused = keyLine.contains(document.activeElement) ? [...keyLine.children].indexOf(document.activeElement) : -1;
    keyLine.replaceChildren(
      ...Array.from({ length: run().heads }, (_, head) =>
        element("button", { type: "button", class: "key", "aria-pressed": String(!state.muted.has(head)), onclick: () => toggle(head) },
          chip(head, palette), `head ${head + 1}`),
      ),
      element("button", { type: "button", class: "key", "aria-pressed": String(state.stripes), onclick: () => selection.set({ stripes: !state.stripes }) },
        "side by side in each cell"),
    );
    keyLine.children[focused]?.focus();
    const ramps = Array.from({ length: run().heads }, (_, head) => element("span", { class: "ramp", style: { background: rampOf(palette, head) } }));
    scale.replaceChildren("attention 0 ", element("span", { class: "ramps" }, ramps), ` ${number(palette.full)} and more`);
  };
  const draw = () => {
    host.hidden = !run().pictures;
    if (host.hidden) return;
    const theme = readTheme();
    const palette = paletteOf(run());
    matrix.draw(run(), combinedImage(run(), state, palette), palette, theme);
    const step = run().times[state.time];
    matrix.canvas.setAttribute("aria-label", `Attention of all heads of seed ${run().seeds[state.seed]} at step ${step}`);
    return palette;
  };
  const fit = () => {
    if (!frame.clientWidth) return;
    matrix.resize(run(), frame.clientWidth);
    draw();
  };
  drawToWidth(frame, fit);
  drawKey(paletteOf(run()));
  selection.watch((_, changed) => {
    if (changed.has("run")) fit();
    const palette = draw();
    if (palette && ["run", "muted", "stripes", "theme"].some((name) => changed.has(name))) drawKey(palette);
  });
}

/** One picture a head, with the block it looks at most. */
export function mountHeads(host, report, selection) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  let views = [];

  const draw = () => {
    const theme = readTheme();
    const palette = paletteOf(run());
    const masses = blockMasses(run(), state.seed, state.layer, state.time);
    for (const [head, view] of views.entries()) {
      view.matrix.draw(run(), headImage(run(), state, palette, head), palette, theme);
      const most = masses[head] ? masses[head].blocks.indexOf(Math.max(...masses[head].blocks)) : -1;
      const words = most < 0 ? "" : `most on block ${most + 1}: ${percent(masses[head].blocks[most])}`;
      view.words.textContent = words;
      view.matrix.canvas.setAttribute("aria-label", `Attention of head ${head + 1} at step ${run().times[state.time]}; ${words}`);
    }
  };
  const build = () => {
    host.hidden = !run().pictures;
    if (host.hidden) return void (views = []);
    const palette = paletteOf(run());
    views = Array.from({ length: run().heads }, (_, head) => {
      const view = { matrix: makeMatrix(), words: element("span", { class: "quiet" }) };
      view.frame = element("div", { class: "frame" }, view.matrix.canvas);
      view.figure = element("figure", { class: "head" }, element("figcaption", {}, chip(head, palette), `Head ${head + 1} `, view.words), view.frame);
      followPointer(view.matrix, run, state, () => [head]);
      return view;
    });
    host.style.setProperty("--heads", views.length);
    host.replaceChildren(...views.map((view) => view.figure));
    fit();
  };
  const fit = () => {
    const width = views[0]?.frame.clientWidth;
    if (!width) return;
    for (const view of views) view.matrix.resize(run(), width);
    draw();
  };
  build();
  drawToWidth(host, fit);
  selection.watch((_, changed) => (changed.has("run") || changed.has("theme") ? build() : draw()));
}
