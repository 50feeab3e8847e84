// The task in a drawing and a few words, made from the settings of the run.
import { paletteOf, readTheme } from "./colour.js";
import { drawn, drawToWidth, element } from "./dom.js";
import { joined, lagWords, number } from "./words.js";

const sub = (rung) => element("span", { class: "symbol" }, "f", element("sub", {}, `1:${rung}`));

function words(run) {
  const { task } = run;
  const count = task.blocks.length;
  const named = task.blocks.map((lags, block) => `block ${block + 1} is ${lagWords(lags)}`);
  const rungs = Array.from({ length: count }, (_, k) => [k ? (k === count - 1 ? " and " : ", ") : "", sub(k + 1)]);
  const stronger = task.ratio === 1
    ? "All blocks count the same."
    : `Each block counts ${number(task.ratio)} times as much as the next.`;
  return [
    element("p", {}, element("b", {}, "The task. "), `A token is drawn from the ${task.start} tokens before it, which matter in ${count === 1 ? "one block" : `${count} blocks`}: ${joined(named)}. ${count > 1 ? stronger : ""}`),
    element("p", {}, element("b", {}, "The rungs. "), count === 1
      ? ["A model that has found the block predicts as ", sub(1), ", the truth."]
      : ["A model that has found only the first blocks cannot do better than ", rungs, ": the rungs of a ladder. The last one is the truth. While a model learns, its excess loss waits at the levels of these rungs, and its distance (KL) to one after the other has a minimum."]),
    element("p", {}, element("b", {}, "The heads. "), "Move the slider and see where each head looks. Every head has a colour and a number; every block and its rung share another colour. A staircase outlines the cells that belong to a block."),
  ];
}

/** Tokens in a row, an arc from each block to the token it helps to predict, as thick as the block is strong. */
function drawTask(run, palette, theme, room) {
  const { blocks, strengths, start } = run.task;
  const box = Math.min(34, Math.floor(room / (start + 1.7)));
  const gap = 3;
  const width = Math.min(room, Math.max(260, Math.ceil((start + 1.7) * box)));
  const across = (lag) => 2 + (start - lag) * box; // left edge of the token at this lag
  const target = 2 + (start + 0.6) * box;
  const arcs = 16 + Math.min(80, 0.3 * start * box);
  const row = arcs + 6;
  const strongest = Math.max(...strengths);
  const below = row + box + 22;
  const line = 21;
  const height = below + blocks.length * line + 4;
  const token = (x, colours, text, ink) => [
    ...colours.map((colour, part) => drawn("rect", {
      x: x + (part * (box - gap)) / colours.length, y: row, width: (box - gap) / colours.length, height: box - gap, fill: colour,
      "fill-opacity": colours.length && colour !== "none" ? 0.22 : 1,
    })),
    drawn("rect", { x, y: row, width: box - gap, height: box - gap, rx: 3, fill: "none", stroke: colours.at(-1) === "none" ? ink : colours.at(-1), "stroke-width": 1.5 }),
    drawn("text", { x: x + (box - gap) / 2, y: row + box / 2 + 3, "text-anchor": "middle", "font-size": Math.min(13, box * 0.55), fill: theme.ink }, text),
  ];
  const parts = [];
  blocks.forEach((lags, block) => {
    const middle = (across(Math.max(...lags)) + across(Math.min(...lags)) + box - gap) / 2;
    const end = target + (box - gap) / 2;
    const top = arcs - Math.min(arcs - 6, 10 + 0.62 * (end - middle));
    const strength = 1 + (5 * strengths[block]) / strongest;
    parts.push(drawn("path", {
      d: `M ${middle} ${row - 3} C ${middle} ${top}, ${end} ${top}, ${end} ${row - 5}`,
      fill: "none", stroke: palette.rungs[block + 1], "stroke-width": strength, "stroke-opacity": 0.75, "stroke-linecap": "round",
    }));
  });
  for (let lag = 1; lag <= start; lag++) {
    const owners = blocks.flatMap((lags, block) => (lags.includes(lag) ? [palette.rungs[block + 1]] : []));
    parts.push(...token(across(lag), owners.length ? owners : ["none"], `${lag}`, theme.rule));
  }
  parts.push(...token(target, ["none"], "?", theme.ink));
  parts.push(drawn("text", { x: across(start), y: row + box + 12, "font-size": 12, fill: theme.muted }, "← older, by lag"));
  parts.push(drawn("text", { x: target + box - gap, y: row + box + 12, "font-size": 12, fill: theme.muted, "text-anchor": "end" }, "next token"));
  blocks.forEach((lags, block) => {
    const y = below + (block + 0.8) * line;
    parts.push(drawn("rect", { x: 1, y: y - 10, width: 12, height: 12, rx: 2, fill: palette.rungs[block + 1] }));
    parts.push(drawn("text", { x: 20, y, "font-size": 13, fill: theme.ink }, `block ${block + 1}: ${lagWords(lags)}, strength ${number(strengths[block])}`));
  });
  return drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `The task: ${joined(blocks.map((lags, block) => `block ${block + 1}, ${lagWords(lags)}`))} predict the next token.` }, ...parts);
}

export function mountReading(host, drawing, report, selection) {
  const run = () => report.runs[selection.state.run];
  const write = () => host.replaceChildren(...words(run()));
  const draw = (width = drawing.clientWidth) => {
    const theme = readTheme();
    if (width > 0) drawing.replaceChildren(drawTask(run(), paletteOf(run()), theme, Math.min(width, 560)));
  };
  write();
  drawToWidth(drawing, draw);
  selection.watch((_, changed) => {
    if (changed.has("run")) write();
    if (changed.has("run") || changed.has("theme")) draw();
  });
}
