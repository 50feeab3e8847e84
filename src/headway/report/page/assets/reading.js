// The task, the rungs and the heads in a few words, made from the settings of the run.
import { paletteOf, readTheme } from "./colour.js";
import { drawTask } from "./drawing.js";
import { drawToWidth, element } from "./dom.js";
import { joined, lagWords, number } from "./words.js";

const symbol = (rung) => element("span", { class: "symbol" }, "f", element("sub", {}, `1:${rung}`));
const paragraph = (lead, ...content) => element("p", {}, element("b", {}, `${lead} `), ...content);

function taskWords({ blocks, start, ratio }) {
  const named = joined(blocks.map((lags, block) => `block ${block + 1} is ${lagWords(lags)}`));
  const drawnFrom = `A token is drawn from the ${start} tokens before it, which matter in`;
  if (blocks.length === 1) return `${drawnFrom} one block: ${named}.`;
  const order =
    ratio === 1 ? "All blocks count the same." : `Each counts ${number(ratio)} times as much as the next.`;
  return `${drawnFrom} ${blocks.length} blocks: ${named}. ${order}`;
}

function rungWords({ blocks }) {
  const count = blocks.length;
  if (count === 1) return ["A model that has found the block predicts as ", symbol(1), ", the truth."];
  const names = blocks.map((_, k) => [k ? (k === count - 1 ? " and " : ", ") : "", symbol(k + 1)]);
  return [
    "With only the first block, the first two, and so on, the chain would predict ",
    names,
    ": the rungs of a ladder, the last of which is the truth. At every step we ask how far the model is ",
    "from each rung (in KL). A stage is the time that it spends at one of them.",
  ];
}

const HEADS =
  "Move the slider and see where each head looks. Every head has a colour and a number; every block shares " +
  "another colour with its rung. Staircases outline the cells that belong to a block.";
const KEYS =
  "Keys: ← and → move by one picture, the space bar plays, numbers jump to a stage. " +
  "A click into the charts goes there.";

export function mountReading(host, drawing, report, selection) {
  const run = () => report.runs[selection.state.run];
  const write = () =>
    host.replaceChildren(
      paragraph("The task.", taskWords(run().task)),
      paragraph("The rungs.", rungWords(run().task)),
      paragraph("The heads.", HEADS),
      element("p", { class: "quiet" }, KEYS),
    );
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
