// What a saved picture says of itself: the run, the seed and the moment, and what its colours and lines are.
import { css, readTheme } from "./colour.js";
import { drawn } from "./dom.js";
import { svgText } from "./saving.js";
import { fullName } from "./terms.js";

const SIZE = { text: 12, line: 18, edge: 8, mark: 22 }; // a mark's width with the gap before its words

/** A file has no layout of its own: letters are about so wide. */
const widthOf = (words) => 0.56 * SIZE.text * words.length;

/** Words in lines that fit, broken between words. */
function wrapped(words, room) {
  const lines = [""];
  for (const word of words.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (widthOf(longer) <= room || !lines.at(-1)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** A square in a head's colour, or a piece of a line. */
function keyMark({ colour, line }, x, y) {
  if (!line) return drawn("rect", { x, y: y - 9, width: 10, height: 10, fill: css(colour) });
  return drawn("line", { x1: x, x2: x + 16, y1: y - 4, y2: y - 4, stroke: colour, ...line });
}

/** {nodes, height} of a caption under a picture: `title` in words, `keys` are [{words, colour, line}]. */
export function caption({ title, keys = [] }, width, top) {
  const theme = readTheme();
  const look = { "font-size": SIZE.text, "font-family": theme.font, fill: theme.ink };
  const nodes = [];
  let y = top;
  for (const words of wrapped(title, width - 2 * SIZE.edge)) {
    y += SIZE.line;
    nodes.push(drawn("text", { x: SIZE.edge, y, ...look }, words));
  }
  let x = width; // the first key begins a line
  for (const key of keys) {
    const room = SIZE.mark + widthOf(key.words) + 12;
    if (x + room > width) [x, y] = [SIZE.edge, y + SIZE.line];
    nodes.push(keyMark(key, x, y), drawn("text", { x: x + SIZE.mark, y, ...look }, key.words));
    x += room;
  }
  const height = y + SIZE.edge - top;
  return { nodes: [drawn("rect", { x: 0, y: top, width, height, fill: theme.paper }), ...nodes], height };
}

/** The text of an SVG with a caption below what it shows. */
export function captioned(text, words) {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const [width, height] = ["width", "height"].map((name) => Number.parseFloat(svg.getAttribute(name)));
  const below = caption(words, width, height);
  svg.append(...below.nodes);
  svg.setAttribute("height", height + below.height);
  svg.setAttribute("viewBox", `0 0 ${width} ${height + below.height}`);
  return svgText(svg);
}

/** "full, as-run; seed 2, layer 1, step 300". */
export function shownWords(run, { seed, layer }, place) {
  const which = run.layers > 1 ? `, layer ${layer + 1}` : "";
  return `${fullName(run)}; seed ${run.seeds[seed]}${which}, ${place}`;
}
