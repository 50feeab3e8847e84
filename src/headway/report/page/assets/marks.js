// Where stages begin, drawn through all panels and named above the bars of the seeds.

const NAME_LETTER = 6.2; // pixels, of a name; and what a name keeps free on both sides:
const BESIDE = 4;
const STRIP_TITLE = 108; // pixels from the axis to the end of "Stage of each seed", which begins left of it

/** A dashed line through all panels where the median seed enters each stage, the first one included. */
export function stageLines(begun, axis, theme) {
  const line = { color: theme.muted, width: 1, dash: "dash" };
  return begun.map(({ step }) => {
    const x = axis.place(step);
    return { type: "line", xref: "x", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, line, layer: "below" };
  });
}

/** The longest of these words that a number of pixels can hold; "" if none. */
const firstThatFits = (words, room) => words.find((word) => NAME_LETTER * word.length + 2 * BESIDE <= room) ?? "";

/**
 * Behind each line the stage that begins there, "stage 1" or only "1", and before the first line "start", or the
 * stage before it, as the figures have it; whatever has no room there is left out. `wide` is the width of the panels in pixels.
 */
export function stageNames(begun, axis, theme, y, wide) {
  const [left, right] = axis.seen;
  const placed = begun.map(({ rung, before, step }) => {
    const x = axis.coordinate(axis.place(step));
    return { rung, before, x, pixel: (wide * (x - left)) / (right - left) };
  });
  const name = (text, x, xanchor, xshift) => ({
    text,
    showarrow: false,
    xref: "x",
    yref: "paper",
    x,
    y,
    xanchor,
    yanchor: "bottom",
    xshift,
    yshift: 5,
    font: { size: 11, color: theme.muted },
    borderpad: 0,
  });
  const behind = placed.map(({ rung, x, pixel }, k) => {
    const from = Math.max(pixel, STRIP_TITLE); // a stage that begins above the title is named behind it
    const until = Math.min(placed[k + 1]?.pixel ?? wide, wide);
    return name(firstThatFits([`stage ${rung}`, `${rung}`], until - from), x, "left", from - pixel + BESIDE);
  });
  const first = placed.slice(0, 1).map(({ before, x, pixel }) => {
    const words = before ? [`stage ${before}`, `${before}`] : ["start"];
    return name(firstThatFits(words, pixel - STRIP_TITLE), x, "right", -BESIDE);
  });
  return [...first, ...behind].filter(({ text, x }) => text && x >= left && x <= right);
}
