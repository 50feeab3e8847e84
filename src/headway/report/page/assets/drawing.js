// The task in a drawing, made from the settings of the run.
import { drawn } from "./dom.js";
import { joined, lagWords, number } from "./words.js";

/** Tokens in a row, and an arc from each block to the token it helps to predict, as thick as it is strong. */
export function drawTask(run, palette, theme, room) {
  const { blocks, strengths, start } = run.task;
  const box = Math.min(34, Math.floor(room / (start + 1.7)));
  const gap = Math.min(3, 0.2 * box);
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
    ...colours.map((colour, part) =>
      drawn("rect", {
        x: x + (part * (box - gap)) / colours.length,
        y: row,
        width: (box - gap) / colours.length,
        height: box - gap,
        fill: colour,
        "fill-opacity": colours.length && colour !== "none" ? 0.22 : 1,
      }),
    ),
    drawn("rect", {
      x,
      y: row,
      width: box - gap,
      height: box - gap,
      rx: gap,
      fill: "none",
      stroke: colours.at(-1) === "none" ? ink : colours.at(-1),
      "stroke-width": 0.5 * gap,
    }),
    drawn(
      "text",
      {
        x: x + (box - gap) / 2,
        y: row + box / 2 + 3,
        "text-anchor": "middle",
        "font-size": Math.min(13, box * 0.55),
        fill: theme.ink,
      },
      box < 15 ? "" : text, // letters that nobody can read only smudge
    ),
  ];
  const parts = [];
  blocks.forEach((lags, block) => {
    const middle = (across(Math.max(...lags)) + across(Math.min(...lags)) + box - gap) / 2;
    const end = target + (box - gap) / 2;
    const top = arcs - Math.min(arcs - 6, 10 + 0.62 * (end - middle));
    const strength = 1 + (5 * strengths[block]) / strongest;
    parts.push(
      drawn("path", {
        d: `M ${middle} ${row - 3} C ${middle} ${top}, ${end} ${top}, ${end} ${row - 5}`,
        fill: "none",
        stroke: palette.groups[block],
        "stroke-width": strength,
        "stroke-opacity": 0.75,
        "stroke-linecap": "round",
      }),
    );
  });
  for (let lag = 1; lag <= start; lag++) {
    const owners = blocks.flatMap((lags, block) => (lags.includes(lag) ? [palette.groups[block]] : []));
    parts.push(...token(across(lag), owners.length ? owners : ["none"], `${lag}`, theme.rule));
  }
  parts.push(...token(target, ["none"], "?", theme.ink));
  parts.push(
    drawn(
      "text",
      { x: across(start), y: row + box + 12, "font-size": 12, fill: theme.muted },
      "← older, by lag",
    ),
  );
  parts.push(
    drawn(
      "text",
      { x: target + box - gap, y: row + box + 12, "font-size": 12, fill: theme.muted, "text-anchor": "end" },
      "next token",
    ),
  );
  blocks.forEach((lags, block) => {
    const y = below + (block + 0.8) * line;
    parts.push(
      drawn("rect", { x: 1, y: y - 10, width: 12, height: 12, rx: 2, fill: palette.groups[block] }),
    );
    parts.push(
      drawn(
        "text",
        { x: 20, y, "font-size": 13, fill: theme.ink },
        `block ${block + 1}: ${lagWords(lags)}, strength ${number(strengths[block])}`,
      ),
    );
  });
  const named = blocks.map((lags, block) => `block ${block + 1}, ${lagWords(lags)}`);
  return drawn(
    "svg",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `The task: ${joined(named)} determine the next token.`,
    },
    ...parts,
  );
}
