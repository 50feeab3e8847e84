// Numbers and pictures of the page as files: CSV, SVG, PNG. Nothing leaves the browser but to the reader's own disk.
import { readTheme } from "./colour.js";
import { element } from "./dom.js";

/** "minimal, as-run" as "minimal-as-run": letters that every disk takes. */
export const fileName = (...parts) =>
  parts
    .map((part) => String(part).normalize("NFKD").replace(/[^A-Za-z0-9.]+/g, "-").replace(/^[-.]+|[-.]+$/g, ""))
    .filter(Boolean)
    .join("-")
    .slice(0, 120) || "headway";

const BETWEEN = 120; // milliseconds: Chromium drops, without a word, what goes beyond ten files a second
let nextFile = 0;

/** Hand the reader a file. */
export function saveBlob(name, blob) {
  const now = performance.now();
  const start = Math.max(now, nextFile);
  nextFile = start + BETWEEN;
  const link = element("a", { href: URL.createObjectURL(blob), download: name, hidden: true });
  setTimeout(() => {
    document.body.append(link); // some browsers follow only links that stand in the page
    link.click();
    link.remove();
  }, start - now);
  setTimeout(() => URL.revokeObjectURL(link.href), start - now + 60_000); // the browser must have read it by then
}

/** What the style sheet gives an element; a file has no style sheet. */
const LOOKS = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linejoin",
  "stroke-linecap",
  "opacity",
  "display",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
];

/** A drawing of the page as a file of its own, on the paper of the day. */
export function svgFile(svg) {
  const copy = svg.cloneNode(true);
  const [from, to] = [svg, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  from.forEach((node, k) => {
    const style = getComputedStyle(node);
    for (const name of LOOKS) to[k].style.setProperty(name, style.getPropertyValue(name));
  });
  copy.style.setProperty("background", readTheme().paper);
  return svgText(copy);
}

export const svgText = (svg) => new XMLSerializer().serializeToString(svg);

/** The same in pixels, twice as many as on the screen, for slides. */
export async function pngBlob(text, scale = 2) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = element("canvas", { width: image.width * scale, height: image.height * scale });
  const context = canvas.getContext("2d");
  context.fillStyle = readTheme().paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** A figure as the page holds it, PNG or WebP, whichever is smaller; both have every pixel as it was drawn. */
export const pictureSource = ({ type, data }) => `data:image/${type};base64,${data}`;

/** A picture as a PNG file. */
export async function pngOf(source) {
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = element("canvas", { width: image.width, height: image.height });
  canvas.getContext("2d").drawImage(image, 0, 0);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** Text with a comma, a quote or a line end is quoted; one that begins like a formula gets a ' before it. */
function cell(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvText = (rows) => rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");

export const saveButton = (what, kind, act) =>
  element("button", { type: "button", class: "save", "aria-label": `${kind} of ${what}`, onclick: act }, kind);

/**
 * Buttons for the files of one view. `name()` is the file's name without its ending, `table()` its rows,
 * `drawing()` the text of an SVG; a view that has no rows, or no drawing, gives null for it.
 */
export function saving(what, name, table, drawing) {
  const save = (ending, blob) => saveBlob(`${name()}.${ending}`, blob);
  const text = (type, content) => new Blob([content], { type });
  const saveTable = () => save("csv", text("text/csv;charset=utf-8", csvText(table())));
  const saveDrawing = async () => save("svg", text("image/svg+xml", await drawing()));
  const savePixels = async () => save("png", await pngBlob(await drawing()));
  return element(
    "span",
    { class: "saving", role: "group", "aria-label": `Save ${what}` },
    table ? saveButton(what, "CSV", saveTable) : null,
    drawing ? [saveButton(what, "PNG", savePixels), saveButton(what, "SVG", saveDrawing)] : null,
  );
}
