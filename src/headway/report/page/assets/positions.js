// The positions of a flow's problem as a row of boxes; arcs lead from those that matter to what is predicted.
import { drawn } from "./dom.js";
import { joined, number } from "./words.js";

const BOX = 40;
const ROW = 110;

export function drawPositions(run, palette, theme, width) {
  const { strengths, length } = run.task;
  const count = strengths.length;
  const gap = Math.max(6, Math.min(26, (width - 4 - (count + 2) * BOX) / (count + 1)));
  const across = (place) => 2 + place * (BOX + gap);
  const middle = (place) => across(place) + BOX / 2;
  const target = count + 1; // behind the box for all positions that hold nothing
  const word = (x, y, text, fill = theme.muted, size = 12) =>
    drawn("text", { x, y, "font-size": size, fill, "text-anchor": "middle" }, text);
  const box = (place, text, stroke, tint) => [
    drawn("rect", {
      x: across(place),
      y: ROW,
      width: BOX,
      height: BOX,
      rx: 5,
      fill: tint,
      "fill-opacity": 0.2,
      stroke,
    }),
    word(middle(place), ROW + BOX / 2 + 5, text, theme.ink, 14),
  ];
  const arc = (strength, place) => {
    const top = ROW - Math.min(ROW - 8, 20 + 0.3 * (middle(target) - middle(place)));
    const [from, to] = [middle(place), middle(target)];
    const d = `M ${from} ${ROW - 4} C ${from} ${top}, ${to} ${top}, ${to} ${ROW - 6}`;
    const look = { fill: "none", stroke: palette.groups[place], "stroke-opacity": 0.75, "stroke-linecap": "round" };
    return drawn("path", { d, ...look, "stroke-width": 1 + (5 * strength) / strengths[0] });
  };
  const rest = length - count;
  const height = ROW + BOX + 26;
  const said = strengths.map((strength, k) => `position ${k + 1} with strength ${number(strength)}`);
  return drawn(
    "svg",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `The problem: ${joined(said)} determine the target; the other ${rest} positions do not contribute.`,
    },
    strengths.map(arc),
    strengths.map((strength, k) => [
      box(k, `${k + 1}`, palette.groups[k], palette.groups[k]),
      word(middle(k), ROW + BOX + 18, number(strength)),
    ]),
    rest > 0 ? [box(count, `+${rest}`, theme.rule, theme.rule), word(middle(count), ROW + BOX + 18, "nothing")] : null,
    box(target, "y", theme.ink, "none"),
  );
}
