// Excess loss, ladder and stages under each other on one time axis, as plotly wants to hear it.
import { paletteOf } from "./colour.js";
import { positiveRange, timeAxis } from "./curves.js";
import { arrivals } from "./stages.js";
import { family, ladderOf, levels, strip } from "./traces.js";

const SMALLEST = 1e-4; // nats; below this a KL on a logarithmic axis is noise
export const MARGIN = { l: 46, r: 14, t: 30, b: 40 };

function panels(run, narrow) {
  const loss = narrow ? 150 : 190;
  const ladder = narrow ? 190 : 240;
  const seeds = run.stages.some(Boolean) ? Math.min(160, 14 * run.seeds.length + 8) : 0;
  const gap = 34;
  const total = loss + gap + ladder + (seeds ? gap + seeds : 0);
  const part = (bottom, height) => [bottom / total, (bottom + height) / total];
  const above = seeds ? seeds + gap : 0;
  return {
    height: total + MARGIN.t + MARGIN.b,
    loss: part(above + ladder + gap, loss),
    ladder: part(above, ladder),
    strip: seeds ? part(0, seeds) : null,
  };
}

export function figure(run, state, theme, width) {
  const narrow = width < 520;
  const palette = paletteOf(run);
  const axis = timeAxis(run.evaluation, state.logTime, narrow);
  const place = panels(run, narrow);
  const data = [];
  const loss = run.arrays.excess_loss;
  const shown = [];
  if (loss) {
    const drawnLoss = family(run, state, axis, (seed, time) => loss.at(seed, time), {
      colour: theme.ink,
      name: "excess loss",
      yaxis: "y",
    });
    shown.push(drawnLoss.curves);
    data.push(...levels(run, axis, palette), ...drawnLoss.traces);
  }
  const ladder = ladderOf(run, state, palette);
  const rungCurves = [];
  for (const [rung, name] of ladder.names.entries()) {
    if (!ladder.grid || state.hidden.has(`${state.ladder} ${rung}`)) continue;
    const pick = (seed, time) => ladder.grid.at(seed, time, rung);
    const drawnRung = family(run, state, axis, pick, { colour: ladder.colours[rung], name, yaxis: "y2" });
    rungCurves.push(...drawnRung.curves);
    data.push(...drawnRung.traces);
  }
  if (place.strip) data.push(...strip(run, state, axis, palette));
  return {
    axis,
    data,
    layout: layoutOf(run, state, theme, {
      axis,
      place,
      narrow,
      width,
      ladder,
      rungCurves,
      lossCurves: shown.flat(),
    }),
  };
}

function layoutOf(run, state, theme, { axis, place, narrow, width, ladder, rungCurves, lossCurves }) {
  const line = {
    gridcolor: theme.rule,
    zeroline: false,
    linecolor: theme.rule,
    tickcolor: theme.rule,
    fixedrange: false,
  };
  const vertical = (curves, domain) => {
    const [low, high] = positiveRange(curves, SMALLEST);
    const range = state.logValue ? [Math.log10(low / 1.4), Math.log10(high * 1.5)] : undefined;
    const ticks = state.logValue ? { dtick: 1, tickformat: "~g" } : { nticks: 6, rangemode: "tozero" };
    return { ...line, ...ticks, domain, type: state.logValue ? "log" : "linear", range, fixedrange: true };
  };
  const title = (text, domain) => ({
    text: `<b>${text}</b>`,
    showarrow: false,
    xref: "paper",
    yref: "paper",
    x: 0,
    y: domain[1],
    xanchor: "left",
    yanchor: "bottom",
    xshift: -MARGIN.l + 4,
    yshift: 5,
    font: { size: 13, color: theme.ink },
    bgcolor: theme.paper,
    borderpad: 0,
  });
  const moves = arrivals(run).filter((move) => Number.isFinite(move.step));
  const from = place.strip ? place.strip[0] : place.ladder[0];
  return {
    width,
    height: place.height,
    margin: MARGIN,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: theme.font, size: 12, color: theme.muted },
    hovermode: "x unified",
    hoversubplots: "axis",
    hoverlabel: { bgcolor: theme.paper, bordercolor: theme.rule, font: { color: theme.ink, size: 12 } },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: theme.muted, activecolor: theme.ink },
    clickanywhere: true,
    dragmode: narrow ? false : "zoom",
    showlegend: false,
    annotations: [
      title("Excess loss (nats)", place.loss),
      title(ladder.title, place.ladder),
      ...(place.strip ? [title("Stage of each seed", place.strip)] : []),
    ],
    shapes: moves.map((move) => ({
      type: "line",
      xref: "x",
      yref: "paper",
      x0: axis.place(move.step),
      x1: axis.place(move.step),
      y0: from,
      y1: 1,
      line: { color: theme.muted, width: 1, dash: "dash" },
      layer: "below",
    })),
    xaxis: {
      ...line,
      type: axis.type,
      range: [...axis.range],
      title: { text: "optimiser step", standoff: 6 },
      anchor: place.strip ? "y3" : "y2",
      domain: [0, 1],
      showspikes: false,
      unifiedhovertitle: { text: "step %{x:.0f}" },
      ...(axis.ticks
        ? { tickmode: "array", tickvals: axis.ticks.values, ticktext: axis.ticks.words }
        : { nticks: narrow ? 5 : 9 }),
    },
    yaxis: vertical(lossCurves, place.loss),
    yaxis2: vertical(rungCurves, place.ladder),
    yaxis3: {
      ...line,
      domain: place.strip ?? [0, 0.001],
      visible: Boolean(place.strip),
      range: [run.seeds.length - 0.4, -0.6],
      showgrid: false,
      fixedrange: true,
      tickmode: "array",
      tickvals: run.seeds
        .map((_, seed) => seed)
        .filter((seed) => run.seeds.length <= 12 || seed === state.seed),
      ticktext: run.seeds.filter((_, seed) => run.seeds.length <= 12 || seed === state.seed).map(String),
    },
  };
}
