// Progress, ladder and stages under each other on one time axis, as plotly wants to hear it.
import { paletteOf } from "./colour.js";
import { apart, timeAxis, valueAxis } from "./curves.js";
import { clockWord, ladderFor, marked, sameProgress } from "./terms.js";
import { ladderPanel, lossPanel } from "./panels.js";
import { logarithmicValues } from "./settling.js";
import { stageLines, stageNames } from "./marks.js";
import { beginnings, shownSeeds } from "./stages.js";
import { strip } from "./traces.js";

export const MARGIN = { l: 46, r: 84, t: 30, b: 40 };
const GAP = 34; // between panels; a title stands there

/** Heights in pixels, and the share of the whole that each panel takes. */
function arrange(run, narrow, second) {
  const loss = !second ? (narrow ? 150 : 300) : narrow ? 96 : 156; // on a phone both fit its first screen
  const ladder = second ? (narrow ? 124 : 176) : 0;
  const gap = second ? GAP : 0;
  const [most, each] = narrow ? [70, 12] : [130, run.seeds.length > 6 ? 11 : 14];
  const seeds = run.stages.some(Boolean) ? Math.min(most, each * run.seeds.length + 8) : 0;
  const under = seeds ? seeds + GAP : 0;
  const total = under + ladder + gap + loss;
  const domain = (bottom, height) => [bottom / total, (bottom + height) / total];
  return {
    total,
    loss: { height: loss, domain: domain(under + ladder + gap, loss) },
    ladder: second ? { height: ladder, domain: domain(under, ladder) } : null,
    strip: seeds ? { height: seeds, domain: domain(0, seeds) } : null,
  };
}

/**
 * {data, layout} for plotly, and the axis that says where a step lies; `beside` is a run with which it shares axes,
 * `seen` the part of the time axis that a zoom shows, as plotly has it: lines are named within it.
 */
export function figure(run, state, theme, width, beside = null, seen = null) {
  const narrow = width < 520;
  const palette = paletteOf(run);
  const steps = [...run.evaluation, ...(beside?.evaluation ?? [])];
  const whole = timeAxis(steps, state.logTime, width < 640);
  const until = seen && (whole.type === "log" ? 10 ** seen[1] : seen[1]);
  const axis = { ...whole, until, seen: seen ?? whole.range };
  const loss = lossPanel(run, state, axis, palette, theme);
  const ladder = ladderPanel(run, state, axis, palette, theme);
  const places = arrange(run, narrow, Boolean(ladder));
  // Side by side, a curve that lies higher must be higher, where both are of the same quantity.
  const others = (make, alike) => {
    if (!beside || !alike) return null;
    const also = { ...state, seed: state.otherSeed, layer: 0, left: new Set(), ladder: ladderFor(beside, state.ladder) };
    return make(beside, also, axis, paletteOf(beside), theme);
  };
  const [sameLoss, sameLadder] = beside
    ? [sameProgress(run, beside), ladderFor(beside, state.ladder) === ladderFor(run, state.ladder)]
    : [];
  const [otherLoss, otherLadder] = [others(lossPanel, sameLoss), ladder && others(ladderPanel, sameLadder)];
  const logarithmic = logarithmicValues(beside ? [run, beside] : [run], state);
  const lossAxis = valueAxis(loss.values.concat(otherLoss?.values ?? []), logarithmic);
  const ladderAxis = ladder && valueAxis(ladder.values.concat(otherLadder?.values ?? []), logarithmic);
  const laid = state.over && sameLoss ? [...laidLines(otherLoss, beside, theme.second), ...laidLines(otherLadder, beside)] : [];
  const sides = [
    [loss.labels, lossAxis, "y", places.loss],
    ...(ladder ? [[ladder.labels, ladderAxis, "y2", places.ladder]] : []),
  ].map(([own, itsAxis, yref, place]) => {
    const words = own.map((label) => ({ ...label, words: fitted(label, letters(narrow)) }));
    const labels = words.map((label) => ({ ...label, lines: label.words.length }));
    return { yref, placed: apart(labels, itsAxis, place.height) };
  });
  const led = sides.some(({ placed }) => placed.some(isAway));
  const longest = Math.max(0, ...sides.flatMap(({ placed }) => placed.flatMap(({ words }) => words.map(lengthOf))));
  const room = Math.min(narrow ? 124 : 150, Math.max(narrow ? 64 : MARGIN.r, GAPS + LETTER * longest));
  const margin = { ...MARGIN, r: room + (led ? LEADER : 0) };
  const begun = beginnings(run, shownSeeds(run, state));
  const bars = places.strip ? strip(run, state, axis, palette, places.strip.height) : [];
  const layout = {
    ...general(theme, narrow),
    margin,
    width,
    height: places.total + MARGIN.t + MARGIN.b,
    xaxis: timeLayout(run, axis, theme, narrow, places),
    yaxis: valueLayout(lossAxis, theme, places.loss),
    ...(ladder ? { yaxis2: valueLayout(ladderAxis, theme, places.ladder) } : {}),
    yaxis3: seedLayout(run, state, theme, places.strip),
    annotations: [
      title(loss.title, theme, places.loss, run.seeds.length > 1 && width >= 520 ? "thick: median, thin: seeds" : ""),
      ...(ladder ? [title(ladder.title, theme, places.ladder)] : []),
      ...(places.strip
        ? [
            ...stageNames(begun, axis, theme, places.strip.domain[1], width - margin.l - margin.r),
            title("Stage of each seed", theme, places.strip),
          ]
        : []),
      ...sides.flatMap((side) => sideLabels(side, led)),
    ],
    shapes: stageLines(begun, axis, theme),
  };
  return { axis, data: [...loss.traces, ...(ladder?.traces ?? []), ...laid, ...bars], layout };
}

/** The lines of another run, to be laid over the first one's: dashed, and without the levels, which are dotted. */
function laidLines(panel, { label }, colour) {
  const lines = (panel?.traces ?? []).filter(({ line }) => line && line.dash !== "dot");
  return lines.map((trace) => ({
    ...trace,
    line: { ...trace.line, dash: "dash", ...(colour ? { color: colour } : {}) },
    ...(trace.name ? { name: `${trace.name}, ${marked(label)}` } : {}),
  }));
}

const LETTER = 6.4; // pixels, of a label; and of the gaps beside it:
const GAPS = 14;

/** Letters of a line of a label for which there is a margin. */
const letters = (narrow) => Math.floor(((narrow ? 124 : 150) - GAPS) / LETTER);

/** Of a label, without what marks a part of it. */
const lengthOf = (text) => text.replace(/<.*?>/g, "").length;

/** A label in lines of at most so many letters: a long name takes two, and is cut if it needs more; its number stays. */
export function fitted({ text, end = "" }, most) {
  if (text.includes("<") || text.length <= most) return [text];
  const words = text.split(" ");
  const splits = words.slice(1).map((_, k) => [words.slice(0, k + 1).join(" "), words.slice(k + 1).join(" ")]);
  const longer = (lines) => Math.max(...lines.map((line) => line.length));
  const best = splits.reduce((least, lines) => (longer(lines) < longer(least) ? lines : least), [text]);
  if (longer(best) <= most) return best;
  const kept = text.slice(0, Math.max(1, most - end.length - 2)).trimEnd();
  return [end ? `${kept}… ${end}` : `${kept}…`];
}

function general(theme, narrow) {
  const clear = "rgba(0,0,0,0)";
  return {
    margin: MARGIN,
    paper_bgcolor: clear,
    plot_bgcolor: clear,
    font: { family: theme.font, size: 12, color: theme.muted },
    hovermode: "x unified",
    hoversubplots: "axis",
    hoverlabel: { bgcolor: theme.paper, bordercolor: theme.rule, font: { color: theme.ink, size: 12 } },
    modebar: { bgcolor: clear, color: theme.muted, activecolor: theme.ink },
    clickanywhere: true,
    dragmode: narrow ? false : "zoom", // on a phone a drag should scroll the page
    showlegend: false,
  };
}

const lines = (theme) => ({
  gridcolor: theme.rule,
  linecolor: theme.rule,
  tickcolor: theme.rule,
  zeroline: false,
});

function timeLayout(run, axis, theme, narrow, places) {
  const marks = axis.ticks
    ? { tickmode: "array", tickvals: axis.ticks.values, ticktext: axis.ticks.words }
    : { nticks: narrow ? 5 : 9 };
  return {
    ...lines(theme),
    ...marks,
    type: axis.type,
    range: [...axis.range],
    tickangle: 0,
    title: { text: marked(run.clock.axis), standoff: 6 },
    anchor: places.strip ? "y3" : places.ladder ? "y2" : "y",
    unifiedhovertitle: { text: `${marked(clockWord(run))} %{x:${run.clock.whole ? ".0f" : ".3~g"}}` },
  };
}

function valueLayout(axis, theme, place) {
  const marks = axis.type === "log" ? { dtick: 1, tickformat: "~g" } : { nticks: place.height < 120 ? 4 : 6 };
  const { type, range } = axis;
  return { ...lines(theme), ...marks, type, range: [...range], domain: place.domain, fixedrange: true };
}

function seedLayout(run, state, theme, place) {
  // Where their names would overlap, the chosen one is named.
  const named = run.seeds
    .map((_, seed) => seed)
    .filter((seed) => (place?.height ?? 0) >= 10.5 * run.seeds.length || seed === state.seed);
  return {
    ...lines(theme),
    domain: place?.domain ?? [0, 0.001],
    visible: Boolean(place),
    range: [run.seeds.length - 0.4, -0.6],
    showgrid: false,
    fixedrange: true,
    tickmode: "array",
    tickvals: named,
    ticktext: named.map((seed) => String(run.seeds[seed])),
  };
}

function title(text, theme, place, note = "") {
  const more = note && `   <span style="font-size:11px;color:${theme.muted}">${note}</span>`;
  return {
    text: `<b>${text}</b>${more}`,
    showarrow: false,
    xref: "paper",
    yref: "paper",
    x: 0,
    y: place.domain[1],
    xanchor: "left",
    yanchor: "bottom",
    xshift: 4 - MARGIN.l,
    yshift: 5,
    font: { size: 13, color: theme.ink },
    bgcolor: theme.paper,
    borderpad: 0,
  };
}

const LEADER = 14; // pixels across which a thin line leads from the end of a curve to its name

/** Whether a name had to give way to others, so far that one would look for its curve. */
const isAway = ({ shift }) => Math.abs(shift) > 4;

/** Names in the right margin, at the heights of what they name; from there a line leads to those that gave way. */
function sideLabels({ placed, yref }, led) {
  return placed.map(({ words, colour, coordinate, shift }) => {
    const place = led
      ? { showarrow: true, ax: LEADER, ay: -shift, arrowhead: 0, arrowwidth: 1, arrowcolor: colour, standoff: 1 }
      : { showarrow: false, xshift: 4, yshift: shift };
    return {
      ...place,
      text: words.join("<br>"),
      align: "left",
      xref: "paper",
      yref,
      x: 1,
      y: coordinate,
      xanchor: "left",
      yanchor: "middle",
      font: { size: 12, color: colour },
    };
  });
}
