// The attention of the heads as pixels, and the numbers behind a pixel.
import { blendInto, css } from "./colour.js";
import { lagOf } from "./data.js";
import { element, find } from "./dom.js";
import { number } from "./words.js";

const matrixOf = (run, state, head) => run.arrays.attention.row(state.seed, state.time, state.layer, head);

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

/** A head's number on its colour: the number is the cue for those who do not see the colour. */
export function chip(head, palette) {
  const colour = palette.heads[head];
  const bright = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2] > 140;
  const style = { background: css(colour), color: bright ? "#111" : "#fff" };
  return element("span", { class: "chip", style }, `${head + 1}`);
}

/** What the cell says: positions, lag, block, and the attention of each head. */
function cellWords(run, state, { query, key }, heads) {
  const lag = lagOf(run, query, key);
  const first = run.keys - run.queries + 1;
  const place = `query ${first + query} → key ${key + 1}`;
  if (lag < 1) return [place, "the future, which no head sees"];
  const blocks = run.task.blocks.flatMap((lags, block) => (lags.includes(lag) ? [block + 1] : []));
  const values = heads.map((head) => {
    const value = matrixOf(run, state, head)[query * run.keys + key];
    return `head ${head + 1}: ${number(value)}`;
  });
  return [place, `lag ${lag}, ${blocks.length ? `block ${blocks.join(" and ")}` : "in no block"}`, ...values];
}

/** Show the numbers of the cell under the pointer; `run()` and `heads()` are asked when they are needed. */
export function followPointer(matrix, run, state, heads) {
  const tip = find("tip");
  const show = (event) => {
    const cell = matrix.cellAt(run(), event);
    tip.hidden = !cell;
    if (!cell) return;
    tip.replaceChildren(...cellWords(run(), state, cell, heads()).map((line) => element("div", {}, line)));
    const room = document.documentElement.clientWidth;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, room - tip.offsetWidth - 8))}px`;
    tip.style.top = `${event.clientY + 16}px`;
  };
  matrix.canvas.addEventListener("pointermove", show);
  matrix.canvas.addEventListener("pointerdown", show);
  matrix.canvas.addEventListener("pointerleave", () => (tip.hidden = true));
}
