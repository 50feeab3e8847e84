// The story of the chosen seed, a card a stage, with the picture that was taken there; the slider turns the pages.
import { paletteOf } from "./colour.js";
import { hasShares } from "./data.js";
import { element } from "./dom.js";
import { allHeads, blendedImage } from "./pictures.js";
import { sketch } from "./stand.js";
import { chapterAt, storyline, storyOf } from "./story.js";

/** All heads in a small picture, one pixel a query and a key; the style sheet enlarges it. */
function thumbnail(run, state, time) {
  const palette = paletteOf(run);
  if (!run.pictures) return hasShares(run) ? sketch(run, { ...state, time }, palette, 120) : null;
  const image = blendedImage(run, { ...state, time }, palette, allHeads(run));
  const canvas = element("canvas", { width: image.width, height: image.height });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

/** Only the row of cards may scroll: the page stays where the reader is. */
function bringForward(list, card) {
  if (card && list.scrollWidth > list.clientWidth) list.scrollLeft = card.offsetLeft - list.offsetLeft - 12;
}

export function mountWalk(host, report, selection) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  let story = [];
  let cards = [];
  let told = -1; // the chapter that stands out

  const makeCard = (chapter) => {
    const hidden = { class: "chapter-picture triangle", "aria-hidden": "true" }; // the words say the same
    const drawing = thumbnail(run(), state, chapter.time);
    const picture = drawing ? element("div", hidden, drawing) : null;
    const there = () => selection.set({ time: chapter.time, playing: false });
    const go = { type: "button", class: "chapter-title", onclick: there };
    return element(
      "li",
      { class: drawing ? "chapter" : "chapter plain" },
      picture,
      element("div", {}, element("button", go, chapter.title), element("div", { class: "quiet" }, chapter.span)),
      element("p", {}, chapter.words.join(" ")),
    );
  };
  const follow = () => {
    const current = chapterAt(story, run().times[state.time] ?? 0);
    if (current === told) return;
    told = current;
    for (const card of cards) card.removeAttribute("aria-current");
    cards[current]?.setAttribute("aria-current", "step");
    // In the next frame, when the page is laid out anyway.
    requestAnimationFrame(() => bringForward(host.lastChild, cards[told]));
  };
  const build = () => {
    story = storyOf(run(), state.seed, state.layer);
    cards = story.map(makeCard);
    host.hidden = !cards.length;
    host.replaceChildren(
      element("h3", {}, `What happened to seed ${run().seeds[state.seed]}, stage by stage`),
      element("p", { class: "storyline" }, storyline(run(), state.seed)),
      element("ol", { class: "chapters" }, cards),
    );
    told = -1;
    follow();
  };

  build();
  selection.watch((_, changed) => {
    if (["run", "seed", "layer", "theme"].some((name) => changed.has(name))) build();
    else follow();
  });
}
