// A stretch of the text itself: below every token the rung whose prediction of it the model's is closest to, now.
import { paletteOf } from "./colour.js";
import { element } from "./dom.js";
import { rungName } from "./terms.js";
import { number } from "./words.js";

/** A token as it is written; its code points come as numbers, zeros where there are no more. */
const spelt = (codes) => String.fromCodePoint(...[...codes].filter((code) => code > 0));

/** What cannot be seen is drawn by a sign. */
const shown = (token) => token.replaceAll("\n", "⏎").replaceAll("\t", "⇥");

export function mountStretch(host, report, selection) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  let tokens = [];

  const draw = () => {
    const { rungs } = paletteOf(run());
    const time = run().nearest[state.time];
    const nearest = run().arrays.shown_rung.row(state.seed, time);
    const loss = run().arrays.shown_loss?.row(state.seed, time);
    tokens.forEach((token, k) => {
      const rung = nearest[k];
      const known = Number.isFinite(rung);
      token.style.setProperty("border-bottom-color", known ? rungs[Math.round(rung)] : "transparent");
      const words = known ? rungName(run(), Math.round(rung)) : "unknown";
      token.setAttribute("title", loss ? `${words}; loss ${number(loss[k])}` : words);
    });
  };
  const build = () => {
    const written = run().facts.shown_written;
    host.hidden = !written || !run().arrays.shown_rung;
    if (host.hidden) return void (tokens = []);
    const { rungs } = paletteOf(run());
    const count = written.shape[1];
    const words = Array.from({ length: count }, (_, k) => shown(spelt(written.row(state.seed, k))));
    const [first, ...rest] = words.map((word) => element("span", { class: "token" }, word));
    tokens = rest;
    const keys = run().rungNames.map((_, rung) =>
      element("span", { class: "token rung-key", style: { "border-bottom-color": rungs[rung] } }, rungName(run(), rung)),
    );
    host.replaceChildren(
      element("h3", {}, "Held-out text ", element("span", { class: "quiet" }, "each token in the colour of the rung closest to the model's prediction")),
      element("p", { class: "stretch-text" }, first, rest),
      element("p", { class: "stretch-keys" }, keys),
    );
    draw();
  };

  build();
  selection.watch((_, changed) => {
    if (changed.has("run") || changed.has("theme")) build();
    else if (!host.hidden && (changed.has("time") || changed.has("seed"))) draw();
  });
}
