// Elements from words. Text from a run only ever passes through text nodes, so it cannot become markup.

const SVG = "http://www.w3.org/2000/svg";

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style")
      for (const [key, setting] of Object.entries(value)) node.style.setProperty(key, setting);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return node;
}

/** An HTML element: element("p", {class: "note"}, "some words", anotherElement). */
export function element(tag, attributes = {}, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/** The same for a drawing. */
export function drawn(tag, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

/** A box in which a wide table scrolls by itself; where it does, a line above the table says so. */
export function scrolling(table) {
  const hint = element("p", { class: "sideways quiet", hidden: true }, "Scroll the table sideways to see all of it.");
  const box = element("div", { class: "scroll" }, hint, table);
  const check = () => (hint.hidden = table.scrollWidth <= box.clientWidth);
  new ResizeObserver(() => requestAnimationFrame(check)).observe(box);
  return box;
}

export const find = (id) => document.getElementById(id);

/**
 * Call `draw(width)` now and whenever the host gets another width, at most once a frame. What was chosen meanwhile
 * is drawn first: otherwise the parts that were made for one run would show the numbers of another.
 */
export function drawToWidth(host, draw, selection) {
  let last = -1;
  const check = () => {
    selection.flush();
    const width = Math.floor(host.clientWidth);
    if (width > 0 && width !== last) draw((last = width));
  };
  new ResizeObserver(() => requestAnimationFrame(check)).observe(host);
  check();
}
