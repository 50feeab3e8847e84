// One picture a head, with the block it looks at most.
import { captioned } from "./caption.js";
import { paletteOf, readTheme } from "./colour.js";
import { blockMasses } from "./data.js";
import { drawToWidth, element } from "./dom.js";
import { makeMatrix } from "./matrix.js";
import { allHeads, blendedImage, chip, followPointer, pictureCaption, pictureName, pictureStep } from "./pictures.js";
import { fileName, saving } from "./saving.js";
import { percent } from "./words.js";

/** "most on block 2: 81 %". */
function mostWords(masses) {
  const known = (masses?.blocks ?? []).filter(Number.isFinite);
  if (!known.length) return "";
  const most = Math.max(...known);
  return `most on block ${masses.blocks.indexOf(most) + 1}: ${percent(most)}`;
}

export function mountHeads(host, report, selection) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  let views = [];

  const draw = () => {
    const palette = paletteOf(run());
    const masses = blockMasses(run(), state.seed, state.layer, state.time);
    for (const [head, { matrix, words }] of views.entries()) {
      matrix.draw(run(), blendedImage(run(), state, palette, [head]), palette, readTheme());
      words.textContent = mostWords(masses[head]);
      const label = `Attention of head ${head + 1} at step ${pictureStep(run(), state)}; ${words.textContent}`;
      matrix.canvas.setAttribute("aria-label", label);
    }
  };
  const fit = () => {
    const width = views[0]?.frame.clientWidth;
    if (!width) return;
    for (const { matrix } of views) matrix.resize(run(), width);
    draw();
  };
  const makeView = (head) => {
    const matrix = makeMatrix();
    const words = element("span", { class: "quiet" });
    const frame = element("div", { class: "frame" }, matrix.canvas);
    const name = () => fileName(pictureName(run(), state), "head", head + 1);
    const drawing = () => captioned(matrix.file(), pictureCaption(run(), state, paletteOf(run()), [head]));
    const files = saving(`head ${head + 1}`, name, null, drawing);
    const caption = element("figcaption", {}, chip(head, paletteOf(run())), `Head ${head + 1} `, words);
    followPointer(matrix, run, state, () => [head]);
    return { matrix, words, frame, figure: element("figure", { class: "head" }, caption, frame, files) };
  };
  const build = () => {
    host.hidden = !run().pictures;
    views = host.hidden ? [] : allHeads(run()).map(makeView);
    host.replaceChildren(...views.map((view) => view.figure));
    fit();
  };

  build();
  drawToWidth(host.parentElement, fit); // the host itself only passes its figures on to the grid around it
  selection.watch((_, changed) => (changed.has("run") || changed.has("theme") ? build() : draw()));
}
