// The charts on the page, with a marker that follows the slider.
import { makeBands } from "./bands.js";
import { captioned } from "./caption.js";
import { paletteOf, readTheme } from "./colour.js";
import { hasShares, nearestIndex } from "./data.js";
import { drawToWidth, element } from "./dom.js";
import { figure, MARGIN } from "./figure.js";
import { byLadder, fullName, ladderChoices, lossOf, lossUnit, lossWord, theLoss, when } from "./terms.js";
import { lineKeys } from "./linekeys.js";
import { curveTable } from "./numbers.js";
import { fileName, saving } from "./saving.js";
import { beginnings } from "./stages.js";
import { rungLevels } from "./traces.js";
import { median, sentence, threeDigits } from "./words.js";

/**
 * How plotly behaves. Its buttons are named one by one, so that none comes along with a newer version: some of them
 * offer to upload the chart, and no policy of a page can forbid a window that does. Files are saved below the chart.
 */
function configuration(showAll) {
  // Plotly's own would go back to the axis that it drew first, which may have been of another kind.
  const whole = { name: "whole", title: "Show everything again", icon: window.Plotly.Icons.home, click: showAll };
  return {
    displaylogo: false,
    doubleClick: false, // for the same reason
    displayModeBar: "hover",
    modeBarButtons: [["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", whole]],
    showSendToCloud: false,
    plotlyServerURL: "", // nowhere to send to
  };
}

/** Draw into the host, redraw on changes of what is shown, and only move a line when time changes. */
export function mountCharts(host, report, selection) {
  const plot = element("div", { class: "plot", role: "img" });
  const marker = element("div", { class: "marker", "aria-hidden": "true" });
  const drawing = { axis: null, width: 0, right: MARGIN.r };
  const run = () => report.runs[selection.state.run];
  const files = saving("the curves", () => fileName(run().label, "curves"), () => curveTable(run()), () => chartFile());
  const bands = makeBands(report, selection);
  const notes = element("p", { class: "quiet chart-notes" });
  const note = () => notes.replaceChildren(chartNotes(run()).join(" "));
  host.append(plot, bands.host, marker, files, notes);
  note();

  const moveMarker = () => {
    const step = run().times[selection.state.time];
    const range = plot.layout?.xaxis?.range;
    if (!range || step === undefined || !drawing.axis) return void (marker.hidden = true);
    // A line of our own costs a microsecond; asking plotly to move a shape would lay the chart out again.
    const [first, last] = range;
    const share = (drawing.axis.coordinate(drawing.axis.place(step)) - first) / (last - first);
    const inside = drawing.width - MARGIN.l - drawing.right;
    marker.hidden = share < -1e-9 || share > 1 + 1e-9;
    marker.style.transform = `translateX(${(MARGIN.l + share * inside).toFixed(2)}px)`;
  };

  /** What stands below the chart follows its time axis, and the marker goes through both. */
  const drawBands = () => {
    const range = plot.layout?.xaxis?.range;
    if (!range || !drawing.axis) return;
    const below = bands.draw({ ...drawing, range }, readTheme());
    marker.style.height = `${plot.layout.height - MARGIN.t - (below ? 0 : MARGIN.b) + below}px`;
  };

  /** The chart with the marker where it stands, on paper. */
  const chartFile = async () => {
    const { paper } = readTheme();
    const x = drawing.axis.place(run().times[selection.state.time] ?? 0);
    const line = { color: readTheme().link, width: 2 };
    const now = { type: "line", xref: "x", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, line };
    const { data, layout } = plot;
    const { width, height } = layout;
    const figure = { data, layout: { ...layout, paper_bgcolor: paper, shapes: [...layout.shapes, now] } };
    const file = await window.Plotly.toImage(figure, { format: "svg", width, height });
    return captioned(decodeURIComponent(file.slice(file.indexOf(",") + 1)), chartCaption(run(), selection.state));
  };

  const make = (seen = null) => {
    const other = report.runs[selection.state.other];
    const beside = other && other.clock.word === run().clock.word ? other : null; // others measure other things
    return figure(run(), selection.state, readTheme(), drawing.width, beside, seen);
  };
  const draw = () => {
    if (!drawing.width) return;
    const made = make();
    [drawing.axis, drawing.right] = [made.axis, made.layout.margin.r];
    window.Plotly.react(plot, made.data, made.layout, configuration(draw));
    plot.setAttribute("aria-label", chartWords(run()));
    marker.style.top = `${MARGIN.t}px`;
    drawBands();
    host.style.minHeight = "0"; // the room that was kept free is taken
    moveMarker();
  };

  /** After a zoom: lines are named where they leave the chart. */
  const moveLabels = (changes) => {
    if (!Object.keys(changes).some((name) => name.startsWith("xaxis"))) return;
    const { annotations } = make(plot.layout.xaxis.range).layout;
    window.Plotly.relayout(plot, { annotations });
  };

  const listen = () => {
    if (drawing.listening) return;
    drawing.listening = true;
    plot.on("plotly_relayout", moveMarker);
    plot.on("plotly_relayout", drawBands);
    plot.on("plotly_relayout", moveLabels);
    plot.on("plotly_doubleclick", draw);
    plot.on("plotly_click", (event) => {
      const x = event.xvals?.[0] ?? event.points?.[0]?.x;
      // Whoever points at a moment wants to look at it.
      if (Number.isFinite(x)) selection.set({ time: nearestIndex(run().times, x), playing: false });
    });
  };
  const fit = (width) => {
    drawing.width = width;
    draw();
    listen();
  };
  drawToWidth(host, fit, selection);
  selection.watch((_, changed) => {
    const shown = ["run", "seed", "layer", "other", "otherSeed", "over", "logTime", "logValue", "ladder", "hidden", "left", "theme"];
    const more = shown.some((name) => changed.has(name));
    if (changed.has("run")) note();
    if (more) draw();
    else moveMarker();
  });
}

/** What the lines need to be read right: [sentence]. */
function chartNotes(run) {
  const chain = Boolean(run.task?.blocks) && byLadder(run);
  const several = chain && run.rungs > 1 && rungLevels(run).length > 0;
  return [
    several
      ? "Dotted: the loss of each rung. A rung that leaves blocks out is overconfident, so its level lies above the plateau of a model that knows the same blocks."
      : "",
    run.heads > 1 && hasShares(run)
      ? `Competition index: the probability that two heads, each drawing from its attention, draw the same ${run.place} (mean over pairs).`
      : "",
  ].filter(Boolean);
}

/** What a saved chart says of itself. */
function chartCaption(run, state) {
  const now = run.times[state.time];
  const place = now === undefined ? "no steps" : `marker at ${when(run, now)}`;
  const keys = lineKeys(run, state, paletteOf(run), readTheme());
  return { title: `Curves. ${fullName(run)}; seed ${run.seeds[state.seed]}, ${place}`, keys };
}

/** The chart for someone who cannot see it. */
function chartWords(run) {
  const loss = lossOf(run);
  const ends =
    loss && run.evaluation.length
      ? [0, run.evaluation.length - 1].map((time) =>
          threeDigits(median(run.seeds.map((_, seed) => loss.at(seed, time)))),
        )
      : null;
  return [
    `${sentence([lossWord(run), ...Object.values(ladderChoices(run)).slice(0, 1)].join(" and "))}, by ${run.clock.axis}.`,
    ends ? `The median of ${theLoss(run)} goes from ${ends[0]} to ${ends[1]}${lossUnit(run)}.` : "",
    ...beginnings(run).map(({ rung, step }) => `Stage ${rung} begins at ${when(run, step)} in the median.`),
  ].join(" ");
}
