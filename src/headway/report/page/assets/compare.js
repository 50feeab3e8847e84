// A second run beside the first, on the same slider: the choice of it, and a selection that follows the first one's.
import { aligned, alignments, lackedStage, overlays, partner } from "./align.js";
import { element } from "./dom.js";
import { ladderFor } from "./terms.js";
import { makeSelection } from "./selection.js";
import { runOptions } from "./choices.js";

const NONE_LEFT = new Set();

/** The state of the second view: everything as in the first, but for the run, the seed and the place on the slider. */
function shadowOf(report, state) {
  const run = report.runs[state.other];
  const ends = [{ run: report.runs[state.run], seed: state.seed }, { run, seed: state.otherSeed }];
  return {
    ...state,
    run: state.other,
    seed: state.otherSeed,
    other: state.run,
    otherSeed: state.seed,
    left: state.other === state.run ? state.left : NONE_LEFT, // seeds of one run are not those of another
    layer: Math.min(state.layer, Math.max(0, run.layers - 1)),
    ladder: ladderFor(run, state.ladder),
    time: aligned(...ends, state.time, state.align),
    lacks: state.align === "stage" ? lackedStage(...ends, state.time) : 0,
  };
}

/** A selection that follows; what is changed in its view changes the first one, so that both stay together. */
function makeShadow(report, selection) {
  const inner = makeSelection(shadowOf(report, selection.state));
  const back = ({ time, ...changes }) => {
    if (time === undefined) return changes;
    const { run, seed, other, otherSeed, align } = selection.state;
    const ends = [{ run: report.runs[other], seed: otherSeed }, { run: report.runs[run], seed }];
    return { ...changes, time: aligned(...ends, time, align) };
  };
  return {
    ...inner,
    set: (changes) => selection.set(back(changes)),
    follow() {
      inner.set(shadowOf(report, selection.state));
      inner.flush();
    },
  };
}

/** The rule that fits both runs: the wanted one, or the first that there is. */
const fitting = (report, run, other, wanted) => {
  const rules = Object.keys(alignments(report.runs[run], report.runs[other]));
  return rules.includes(wanted) ? wanted : rules[0];
};

/** Show the second view while a second run is chosen; `mount(selection)` is called once, when it is first needed. */
export function mountComparison(views, report, selection, mount) {
  let shadow = null;
  const show = (state) => {
    const on = state.other >= 0;
    views.classList.toggle("comparing", on);
    views.classList.toggle("over", on && state.over && overlays(report.runs[state.run], report.runs[state.other]));
    if (!on) return;
    // Another run may not know the rule by which the last two were aligned.
    const align = fitting(report, state.run, state.other, state.align);
    if (align !== state.align) selection.set({ align });
    if (shadow) return shadow.follow();
    shadow = makeShadow(report, selection);
    mount(shadow);
  };
  if (selection.state.other >= 0) show(selection.state); // a link may ask for it
  selection.watch(show);
}

const option = (words, value) => element("option", { value }, words);

/** Which run stands beside, which of its seeds, and what the two have in common at any time. */
export function comparisonChoices(report, selection) {
  const { state } = selection;
  const chooser = (id, words, choose) => {
    const select = element("select", { id, onchange: () => choose(select.value) });
    return { select, label: element("label", { class: "choice", for: id }, words, select) };
  };
  const compare = (changes) => {
    const next = { ...state, ...changes };
    const align = next.other < 0 ? next.align : fitting(report, next.run, next.other, changes.align ?? "clock");
    selection.set({ ...changes, align });
  };
  const others = chooser("other", "with", (value) => {
    const other = Number(value);
    const kept = Math.min(state.seed, (report.runs[other]?.seeds.length ?? 1) - 1);
    const { otherSeed } = partner([report.runs[state.run]], { run: 0, seed: state.seed });
    compare({ other, otherSeed: other === state.run ? otherSeed : kept });
  });
  const seeds = chooser("other-seed", "seed", (value) => selection.set({ otherSeed: Number(value) }));
  const rules = chooser("align", "aligned by", (align) => compare({ align }));
  const layouts = chooser("lay", "drawn", (value) => selection.set({ over: value === "over" }));
  layouts.select.append(option("side by side", "beside"), option("overlaid", "over"));
  const toggle = () => compare(state.other < 0 ? partner(report.runs, state) : { other: -1 });
  const title = "Two runs or two seeds side by side (key c)";
  const button = element("button", { type: "button", id: "compare", title, onclick: toggle });

  const draw = () => {
    const on = state.other >= 0;
    host.hidden = report.runs.length < 2 && report.runs[0].seeds.length < 2; // more may come while the page lies open
    button.textContent = on ? "stop comparing" : "compare";
    for (const { label } of [others, seeds, rules, layouts]) label.hidden = !on;
    if (!on) return;
    const second = report.runs[state.other];
    layouts.label.hidden = !overlays(report.runs[state.run], second);
    layouts.select.value = state.over ? "over" : "beside";
    others.select.replaceChildren(...runOptions(report.runs));
    others.select.value = String(state.other);
    seeds.select.replaceChildren(...second.seeds.map(option));
    seeds.select.value = String(state.otherSeed);
    const named = Object.entries(alignments(report.runs[state.run], second));
    rules.select.replaceChildren(...named.map(([rule, words]) => option(words, rule)));
    rules.select.value = state.align;
  };
  const host = element("span", { class: "comparison" }, button, others.label, seeds.label, layouts.label, rules.label);
  draw();
  selection.watch((_, changed) => {
    if (["run", "other", "otherSeed", "align", "over"].some((name) => changed.has(name))) draw();
  });
  return { toggle: () => host.hidden || toggle(), host };
}
