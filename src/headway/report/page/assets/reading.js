// The task, the rungs and the heads in a few words, made from what the record says of the run.
import { paletteOf, readTheme } from "./colour.js";
import { drawTask } from "./drawing.js";
import { drawToWidth, element } from "./dom.js";
import { drawPositions } from "./positions.js";
import { gridsAmong, gridWords } from "./counting.js";
import { byLadder, isHidden, rungMeasure, rungName, theLoss, unmarked } from "./terms.js";
import { counted, joined, lagWords, number } from "./words.js";

const paragraph = (lead, ...content) => element("p", {}, element("b", {}, `${lead} `), ...content);

/** A task whose drawing is known shows it: blocks of lags, or features at positions. */
const hasBlocks = (run) => Boolean(run.task?.blocks);
const hasFeatures = (run) => Boolean(run.task?.strengths) && !hasBlocks(run);

function blockWords({ blocks, start, ratio }) {
  const named = joined(blocks.map((lags, block) => `block ${block + 1} is ${lagWords(lags)}`));
  const drawnFrom = `The distribution of a token depends on the ${start} tokens before it, through`;
  if (blocks.length === 1) return `${drawnFrom} one block: ${named}.`;
  const order =
    ratio === 1 ? "All blocks have the same strength." : `Each is ${number(ratio)} times as strong as the next.`;
  return `${drawnFrom} ${blocks.length} blocks: ${named}. ${order}`;
}

/** "Stage 1 begins where KL to uniform (rung 0, hidden in the chart at first) and KL to rung 1 are equally far .." */
function firstStage(run) {
  const [measure, name] = [rungMeasure(run), rungName(run, 0)];
  const hidden = isHidden(run, { hidden: new Set() }, "rungs 0") ? "hidden in the chart at first" : "";
  const aside = [name === "rung 0" ? "" : "rung 0", hidden].filter(Boolean).join(", ");
  const lowest = `${name}${aside ? ` (${aside})` : ""}`;
  return `Stage 1 begins where ${measure} to ${lowest} and ${measure} to rung 1 are equally far above their minima.`;
}

/** The rule of `stages_from_ladder`: by the excess over the own minimum, not by the nearest rung. */
const stageWords = (run, measure = rungMeasure(run)) =>
  `At every step the stage is that of the rung whose ${measure} is least above its own minimum over training. It is not always the ` +
  `nearest rung, and only rungs that the model reaches count. ${firstStage(run)} Stage 2 begins where ${measure} to rung 1 has begun to rise and ${measure} to rung 2 ` +
  "is still falling: both are then equally far above their minima. Before the last stage the model can be nearer to the truth " +
  "than to the rung of its stage.";

function chainRungs(run) {
  const count = run.task.blocks.length;
  if (count === 1) return [`A model that has found the block predicts like rung 1, the truth. ${firstStage(run)}`];
  const lowest = rungName(run, 0);
  const ends = lowest === "rung 0" ? `rung ${count} is the truth` : `rung 0 is ${lowest}, rung ${count} the truth`;
  return [
    `Rung 1 predicts from the first block only, rung 2 from the first two, and so on. They form a ladder of rungs 0 to ${count}: ${ends}. `,
    "At every evaluation we measure how far the model is ",
    `from each rung, by KL(rung ‖ model). ${stageWords(run)} `,
    "A rung that leaves blocks out is overconfident, so its own loss (dotted in the chart) lies above the plateau ",
    "of a model that knows the same blocks. The excess loss is estimated from the tokens that were drawn in the test ",
    "sequences, while KL to the truth is computed from the exact distributions at the same positions: they estimate the same quantity, and ",
    "differ only by sampling noise.",
  ];
}

const HEADS =
  "Move the slider to see what each head attends to. Every head has a colour and a number; every block has the " +
  "same colour as its rung. Staircases outline the cells that belong to a block.";
const MORE = () => element("p", {}, element("a", { href: "#glossary" }, "Words used on this page"));
const SPARSE = "Attention maps are stored less often than the curves: the one shown is of the nearest stored step.";
const sparse = (run) => run.pictures && run.snapshot.length < run.times.length;
const KEYS =
  "Keys: ← and → move by one measurement, the space bar plays, + and - change the speed, numbers jump to a " +
  "stage, n and p to the next and the previous one, c compares two runs, ? or Escape hides this text. The address of the page records " +
  "what is shown: a link to it shows the same. A click in a chart moves the slider to that point; " +
  "a drag enlarges, a double click shows everything again.";

function featureWords({ strengths, length, projections, optimiser }) {
  const named = joined(strengths.map((strength, k) => `${number(strength)} at position ${k + 1}`));
  const often = projections === 1 ? "once, as in the authors' simulation" : "twice, as the paper prints it";
  const moved = optimiser
    ? `Both are trained, by ${optimiser}. `
    : `Both follow the gradient of the exact loss in continuous time, with Π(s), the derivative of the softmax, applied ${often}. `;
  return [
    paragraph(
      "The problem.",
      `A vector is predicted from ${counted(length, "other")}. Only ${strengths.length} of them matter, each `,
      `through a feature of its own, of strength ${named}.`,
    ),
    paragraph(
      optimiser ? "The training." : "The flow.",
      `Each head has a value V and attention s over the positions. ${moved}The loss has a plateau where k features are learnt `,
      "and the others are not: a stage is the time spent there.",
    ),
    paragraph(
      "The heads.",
      "Move the slider to see what each head attends to (bars of attention) and what it passes on (bars of value, ",
      "to the left where negative). First all heads attend to the strongest feature, then they leave it one by one; ",
      "those that stay offset what the leaving head still adds at the old position.",
    ),
  ];
}

function rungWords(run) {
  if (byLadder(run)) {
    const names = joined(run.rungNames.map(unmarked));
    return [
      paragraph(
        "The rungs.",
        `The model is compared with predictors that know more and more, from nothing to the truth: ${names}. `,
        `They are the rungs of a ladder. ${rungMeasure(run) === "KL" ? "KL(rung ‖ model)" : "Half the mean squared distance"} `,
        "measures how far the model is from each of them. ",
        stageWords(run),
      ),
    ];
  }
  if (!run.stages.some(Boolean)) return [];
  return [paragraph("The stages.", "A stage is a plateau of the loss after a drop, found from the curve alone.")];
}

function attentionWords(run) {
  const parts = [];
  if (run.pictures)
    parts.push("A picture has a row for every position that predicts and a column for every position that it can attend to.");
  if (sparse(run)) parts.push(SPARSE);
  if (!run.groups.length && run.arrays.attention_by_lag)
    parts.push("By lag: how far back a head attends, lag 1 being the newest position.");
  const own = run.measures.filter(({ axes }) => axes === "heads").map(({ words }) => words);
  if (own.length) parts.push(`Small charts show, head by head and layer by layer, ${joined(own)}.`);
  return parts.length ? [paragraph("The heads.", `Every head has a colour and a number. ${parts.join(" ")}`)] : [];
}

const generalWords = (run) => [
  paragraph("The task.", `${run.title || run.label}. The first chart shows ${theLoss(run)}.`),
  ...rungWords(run),
  ...attentionWords(run),
];

const readingOf = (run) => {
  if (hasFeatures(run)) return featureWords(run.task);
  if (!hasBlocks(run)) return generalWords(run);
  return [
    paragraph("The task.", blockWords(run.task)),
    paragraph("The rungs.", chainRungs(run)),
    paragraph("The heads.", sparse(run) ? `${HEADS} ${SPARSE}` : HEADS),
  ];
};

/** `panel` folds open beside the view, where the picture that it explains stays in sight. */
export function mountReading(panel, host, drawing, report, selection) {
  const run = () => report.runs[selection.state.run];
  const grids = gridWords(gridsAmong(report.findings));
  const gridParts = grids ? [paragraph("The grids.", grids.replace("Grids: ", ""))] : [];
  const write = () => host.replaceChildren(...readingOf(run()), ...gridParts, MORE(), element("p", { class: "quiet" }, KEYS));
  const draw = (width = drawing.clientWidth) => {
    const picture = hasFeatures(run()) ? drawPositions : hasBlocks(run()) ? drawTask : null;
    if (!picture) drawing.replaceChildren();
    else if (width > 0) drawing.replaceChildren(picture(run(), paletteOf(run()), readTheme(), Math.min(width, 560)));
  };
  const unfold = () => {
    panel.hidden = !selection.state.reading;
    panel.parentElement.classList.toggle("explained", selection.state.reading);
  };
  write();
  unfold();
  drawToWidth(drawing, draw, selection);
  selection.watch((_, changed) => {
    if (changed.has("reading")) unfold();
    if (changed.has("run")) write();
    if (changed.has("run") || changed.has("theme")) draw();
  });
}
