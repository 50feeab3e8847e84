// One attention matrix on a canvas: a picture of queries x keys, axes, and the outlines of the blocks.
import { apart } from "./curves.js";
import { drawn } from "./dom.js";
import { drawPixels, Pen } from "./pen.js";
import { svgText } from "./saving.js";
import { ranges } from "./words.js";

const ROOM = { left: 40, right: 6, top: 18, bottom: 34 };
const TEXT = 12;
const MOST_NUMBERS = 12; // groups whose numbers fit over a picture
const LOWEST = 44; // pixels that all rows take together at least
const DIGIT = 7.5; // width of a digit in pixels
const AXIS_TITLE = 66; // height of a picture beside which "query position" has room, with what is above and below

/** Where cells lie for a given width: whole device pixels a cell, so that edges are sharp on every screen. */
export function matrixLayout(run, width) {
  const ratio = window.devicePixelRatio || 1;
  const exact = ((width - ROOM.left - ROOM.right) * ratio) / Math.max(1, run.keys);
  const cell = (exact >= 4 ? Math.floor(exact) : exact) / ratio; // of small cells, cutting would waste a third
  const rise = Math.max(cell, LOWEST / Math.max(1, run.queries)); // one query alone would be a thread
  return {
    ratio,
    cell,
    rise,
    left: ROOM.left,
    top: ROOM.top,
    width: ROOM.left + ROOM.right + cell * run.keys,
    height: ROOM.top + ROOM.bottom + rise * run.queries,
  };
}

/** A canvas that draws pictures of `run.queries` rows; `columns` may be a multiple of `run.keys`. */
export function makeMatrix() {
  const canvas = document.createElement("canvas");
  canvas.setAttribute("role", "img");
  const small = document.createElement("canvas");
  let layout = null;
  let shown = null;
  return {
    canvas,
    get layout() {
      return layout;
    },
    resize(run, width) {
      layout = matrixLayout(run, width);
      canvas.width = Math.round(layout.width * layout.ratio);
      canvas.height = Math.round(layout.height * layout.ratio);
      canvas.style.width = `${canvas.width / layout.ratio}px`;
      canvas.style.height = `${canvas.height / layout.ratio}px`;
    },
    draw(run, image, palette, theme) {
      if (!layout) return;
      const context = canvas.getContext("2d");
      context.setTransform(layout.ratio, 0, 0, layout.ratio, 0, 0);
      context.clearRect(0, 0, layout.width, layout.height);
      // The picture is painted with one pixel a cell and enlarged without smoothing: one call instead of 600.
      small.width = image.width;
      small.height = image.height;
      small.getContext("2d").putImageData(image, 0, 0);
      context.imageSmoothingEnabled = false;
      context.drawImage(small, layout.left, layout.top, layout.cell * run.keys, layout.rise * run.queries);
      annotate(context, run, layout, palette, theme);
      shown = { run, image, palette, theme };
    },
    /** What is drawn, as the text of an SVG file. */
    file() {
      const { run, image, palette, theme } = shown;
      const pen = new Pen();
      pen.fillStyle = theme.paper;
      pen.fillRect(0, 0, layout.width, layout.height);
      drawPixels(pen, image, layout, run.keys, palette.paper);
      annotate(pen, run, layout, palette, theme);
      const { width, height } = layout;
      return svgText(drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, pen.nodes));
    },
    /** The cell under a pointer, or null. */
    cellAt(run, event) {
      if (!layout) return null;
      const box = canvas.getBoundingClientRect();
      const key = Math.floor((event.clientX - box.left - layout.left) / layout.cell);
      const query = Math.floor((event.clientY - box.top - layout.top) / layout.rise);
      return key >= 0 && key < run.keys && query >= 0 && query < run.queries ? { query, key } : null;
    },
  };
}

/** Axes, outlines and numbers, with a canvas's pen or one that writes a file. */
function annotate(pen, run, layout, palette, theme) {
  drawFrame(pen, run, layout, theme);
  if (run.coarse > 1 || !run.groups.length) return; // a coarse cell holds many lags
  run.groups.forEach(({ lags }, block) => drawBlock(pen, run, layout, lags, palette.groups[block]));
  if (run.groups.length <= MOST_NUMBERS) drawBlockNumbers(pen, run, layout, palette, theme);
}

function drawFrame(context, run, layout, theme) {
  const { left, top, cell, rise } = layout;
  const [width, height] = [cell * run.keys, rise * run.queries];
  context.strokeStyle = theme.rule;
  context.lineWidth = 1;
  context.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
  context.fillStyle = theme.muted;
  context.font = `${TEXT}px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "top";
  const every = (count, size) =>
    [1, 2, 5, 10, 20, 50, 100, 200, 500].find((gap) => gap * size >= 30 || gap >= count) ?? 1000;
  const across = every(run.keys, cell);
  for (let position = across; position <= run.keys; position += across) {
    const words = String(position * run.coarse);
    const furthest = layout.width - (DIGIT * words.length) / 2; // a wide number at the edge would be cut
    context.fillText(words, Math.min(left + (position - 0.5) * cell, furthest), top + height + 4);
  }
  context.fillText("key position", left + width / 2, top + height + 4 + TEXT + 4);
  context.textAlign = "right";
  context.textBaseline = "middle";
  const first = run.keys - run.queries + 1;
  const down = every(run.queries, rise);
  for (let position = Math.ceil(first / down) * down; position < first + run.queries; position += down) {
    context.fillText(String(position * run.coarse), left - 5, top + (position - first + 0.5) * rise);
  }
  context.save();
  context.translate(7, top + height / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(height < AXIS_TITLE ? "query" : "query position", 0, 0);
  context.restore();
}

/** The staircase around the cells whose lag belongs to a block. */
function drawBlock(context, run, layout, lags, colour) {
  const { left, top, cell, rise } = layout;
  const newest = run.keys - run.queries; // the key at lag 1 of the first query
  const x = (key) => left + Math.max(0, key) * cell;
  context.strokeStyle = colour;
  context.lineWidth = cell < 6 ? 0.75 : 1.25;
  for (const [near, far] of ranges(lags)) {
    context.beginPath();
    for (let query = 0; query < run.queries; query++) {
      const edge = x(newest + query + 2 - near);
      context.lineTo(edge, top + query * rise);
      context.lineTo(edge, top + (query + 1) * rise);
    }
    for (let query = run.queries - 1; query >= 0; query--) {
      const edge = x(newest + query + 1 - far);
      context.lineTo(edge, top + (query + 1) * rise);
      context.lineTo(edge, top + query * rise);
    }
    context.closePath();
    context.stroke();
  }
}

function drawBlockNumbers(context, run, layout, palette, theme) {
  const newest = run.keys - run.queries;
  const places = run.groups.map(({ lags }, block) => {
    const middle = lags.reduce((sum, lag) => sum + lag, 0) / lags.length;
    return { block, value: layout.left + Math.max(0.5, newest + 1.5 - middle) * layout.cell };
  });
  // Closer together, 3 2 1 would be read as one number.
  const axis = { range: [0, layout.width], coordinate: (x) => x };
  const numbers = apart(places, axis, layout.width, 1.25 * TEXT);
  context.font = `600 ${TEXT}px ${theme.font}`;
  context.textBaseline = "alphabetic";
  context.textAlign = "center";
  for (const { block, at } of numbers) {
    context.fillStyle = palette.groupWords[block];
    context.fillText(String(block + 1), at, layout.top - 5);
  }
  context.fillStyle = theme.muted;
  context.font = `${TEXT}px ${theme.font}`;
  const [leftmost, rightmost] = [numbers[0].at, numbers.at(-1).at];
  const left = leftmost > 44; // there is room for the word on this side
  context.textAlign = left ? "right" : "left";
  context.fillText(run.place, left ? leftmost - 9 : rightmost + 9, layout.top - 5);
}
