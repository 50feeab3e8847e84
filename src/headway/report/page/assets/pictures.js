// The attention of the heads as pixels, and the numbers behind a pixel.
import { shownWords } from "./caption.js";
import { blendInto, css } from "./colour.js";
import { lagOf, pictureAt } from "./data.js";
import { element, find } from "./dom.js";
import { when } from "./terms.js";
import { number } from "./words.js";

export const matrixOf = (run, state, head) =>
  run.arrays.attention.row(state.seed, pictureAt(run, state.seed, state.time), state.layer, head);

const MOST_PANELS = 12; // pictures that can be taken in at once

/** The layers whose heads are drawn one by one: all of them where there is room, otherwise the chosen one. */
export const shownLayers = (run, { layer }) =>
  run.layers * run.heads <= MOST_PANELS ? Array.from({ length: run.layers }, (_, k) => k) : [layer];

/** The step at which the picture that is shown was taken. */
export const pictureStep = (run, state) => run.snapshot[pictureAt(run, state.seed, state.time)];

/** "taken at step 201" where the slider stands between two pictures: which of them is shown. */
export function takenWords(run, state) {
  const step = pictureStep(run, state);
  return step === run.times[state.time] ? "" : `taken at ${when(run, step)}`;
}

export const pictureName = (run, state) => `${run.label} seed ${run.seeds[state.seed]} step ${pictureStep(run, state)}`;

const MANY_HEADS = 5; // of which most places are shared by several, so that a blend is mostly black
export const WIDEST_PICTURE = 500; // pixels; a larger picture would not fit the window with its slider
const STRIPE = 2.5; // pixels of a head in a cell, below which nobody sees its colour

/** Whether the heads stand side by side in each cell: what the reader chose, or what many heads ask for that have room for it. */
export const sideBySide = (run, { stripes }) => stripes ?? (run.heads >= MANY_HEADS && STRIPE * run.heads * run.keys <= WIDEST_PICTURE);

/** What a saved picture of these heads says of itself. */
export function pictureCaption(run, state, palette, shown) {
  const place = shownWords(run, state, when(run, pictureStep(run, state)));
  return {
    title: `Attention of ${shown.length === 1 ? `head ${shown[0] + 1}` : "the heads"}. ${place}`,
    keys: [
      ...shown.map((head) => ({ words: `head ${head + 1}`, colour: palette.heads[head] })),
      ...(shown.length > 1 && !sideBySide(run, state) ? [{ words: "several heads", colour: palette.several }] : []),
    ],
  };
}

/** The heads of `shown` in one image, blended: one pixel for a query and a key. */
export function blendedImage(run, state, palette, shown) {
  const image = new ImageData(run.keys, run.queries);
  const rows = shown.map((head) => matrixOf(run, state, head));
  const strengths = new Float32Array(run.heads);
  for (let cell = 0; cell < run.keys * run.queries; cell++) {
    for (const [i, head] of shown.entries()) strengths[head] = strengthOf(rows[i][cell], palette);
    blendInto(image.data, 4 * cell, strengths, palette);
  }
  return image;
}

/** The heads of `shown` in one image, side by side: for a query and a key one pixel a head. */
export function stripedImage(run, state, palette, shown) {
  const image = new ImageData(run.keys * shown.length, run.queries);
  const strengths = new Float32Array(run.heads);
  for (const [i, head] of shown.entries()) {
    const row = matrixOf(run, state, head);
    for (let cell = 0; cell < row.length; cell++) {
      strengths[head] = strengthOf(row[cell], palette);
      blendInto(image.data, 4 * (cell * shown.length + i), strengths, palette);
    }
    strengths[head] = 0;
  }
  return image;
}

/** Nothing for a missing number, the full colour from `palette.full` on. */
const strengthOf = (value, palette) => (value > 0 ? Math.min(1, value / palette.full) : 0);

export const allHeads = (run) => Array.from({ length: run.heads }, (_, head) => head);

/** Dashes of the heads' lines, the other cue for those who do not see the colour. */
export const STROKES = ["none", "7 4", "2 3", "9 3 2 3", "12 4", "5 2", "2 5", "12 3 2 3 2 3"];

/** Black or white, whichever can be read on the colour. */
export const inkOn = (rgb) => (0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] > 140 ? "#111" : "#fff");

/** A head's number on its colour: the number is the cue for those who do not see the colour; no head is several. */
export function chip(head, palette) {
  const colour = head === null ? palette.several : palette.heads[head];
  const style = { background: css(colour), color: inkOn(colour) };
  return element("span", { class: "chip", style }, head === null ? "" : `${head + 1}`);
}

/** What the cell says: positions, lag, block, and the attention of each head. */
function cellWords(run, state, { query, key }, heads) {
  const lag = lagOf(run, query, key);
  const first = run.keys - run.queries + 1;
  const span = (position) =>
    run.coarse > 1 ? `${(position - 1) * run.coarse + 1}–${position * run.coarse}` : `${position}`;
  const place = `query ${span(first + query)} → key ${span(key + 1)}`;
  const values = heads.map((head) => {
    const value = matrixOf(run, state, head)[query * run.keys + key];
    return `head ${head + 1}: ${number(value)}`;
  });
  if (run.coarse > 1) return [place, "means over these positions", ...values];
  const seen = heads.some((head) => matrixOf(run, state, head)[query * run.keys + key] > 0);
  if (lag < 1 && !seen) return [place, "the future, which no head sees"];
  const own = run.groups.filter(({ lags }) => lags.includes(lag)).map(({ name }) => name);
  const where = run.groups.length ? `, ${own.join(" and ") || `in no ${run.place}`}` : "";
  return [place, `lag ${lag}${where}`, ...values];
}

/** Show the numbers of the cell under the pointer; `run()` and `heads()` are asked when they are needed. */
export function followPointer(matrix, run, state, heads) {
  tellAtPointer(matrix.canvas, (event) => {
    const cell = matrix.cellAt(run(), event);
    return cell && cellWords(run(), state, cell, heads());
  });
}

/** Lines of words beside the pointer while it is over the node; `lines(event)` may have none. */
export function tellAtPointer(node, lines) {
  const tip = find("tip");
  const show = (event) => {
    const words = lines(event);
    tip.hidden = !words;
    if (!words) return;
    tip.replaceChildren(...words.map((line) => element("div", {}, line)));
    const room = document.documentElement.clientWidth;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, room - tip.offsetWidth - 8))}px`;
    tip.style.top = `${event.clientY + 16}px`;
  };
  node.addEventListener("pointermove", show);
  node.addEventListener("pointerdown", show);
  node.addEventListener("pointerleave", () => (tip.hidden = true));
}
