// A task as a picture: tokens in a row, and arcs from those that matter to the one that is to be predicted.
import { drawn, element } from "./dom.js";

const SIDE = 38;
const APART = 8;
const ARCH = 26; // of an arc, for every token that it passes

export function taskPicture({ tokens, arcs, caption }) {
  const x = (place) => 2 + place * (SIDE + APART);
  const far = Math.max(1, ...arcs.map(([from, to]) => to - from));
  const top = 14 + ARCH * Math.sqrt(far) * 1.2;
  const goals = new Set(arcs.map(([, to]) => to));
  const width = x(tokens.length) - APART + 2;
  const height = top + SIDE + 2;
  const colourOf = (place) => arcs.find(([from]) => from === place)?.[2];
  const arc = ([from, to, colour]) => {
    const [start, end] = [x(from) + SIDE / 2, x(to) + SIDE / 2];
    const high = top - 6 - ARCH * Math.sqrt(to - from) * 1.5;
    const d = `M ${start} ${top - 3} C ${start} ${high} ${end} ${high} ${end} ${top - 3}`;
    return drawn("path", { class: `arc colour-${colour}`, d, "stroke-width": 4 - colour });
  };
  const box = (token, place) => {
    const colour = colourOf(place);
    const look = goals.has(place) ? "asked" : colour === undefined ? "" : `colour-${colour}`;
    const words = { x: x(place) + SIDE / 2, y: top + SIDE / 2 + 5, "text-anchor": "middle" };
    return [
      drawn("rect", { class: `token ${look}`, x: x(place), y: top, width: SIDE, height: SIDE, rx: 5 }),
      drawn("text", words, token),
    ];
  };
  const size = { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${tokens.join(" ")}: ${caption}` };
  const picture = drawn("svg", size, arcs.map(arc), tokens.map(box));
  return element("figure", { class: "task-picture" }, picture, element("figcaption", { class: "quiet" }, caption));
}
