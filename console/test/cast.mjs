// Animates what was typed into a terminal, and what came, as an SVG without scripts.

const columns = 118,
  cell = { w: 8.43, h: 18 },
  pad = 18,
  head = 34;
const typing = 0.045; // seconds a letter

/** colors are those of the console's dark theme. */
const colors = {
  30: "#6b7480",
  31: "#ff8a80",
  32: "#6bd490",
  33: "#f0b75e",
  34: "#7fb4ff",
  35: "#c9a6ff",
  36: "#5fd0c5",
};
const ink = "#e6eaee",
  dim = "#93a0ad",
  ground = "#10161c";

const safe = (s) => s.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

const esc = String.fromCharCode(27),
  looks = new RegExp(`${esc}\\[([\\d;]*)m|([^${esc}]+)`, "g");

/** parts are the pieces of a line with one look each, cut where the terminal ends. */
function parts(line) {
  const list = [];
  let look = {},
    width = 0;
  for (const [, code, text] of line.matchAll(looks)) {
    if (text === undefined) {
      for (const n of (code || "0").split(";").map(Number)) {
        if (n === 0) look = {};
        else if (n === 1) look = { ...look, bold: true };
        else if (n === 2) look = { ...look, fill: dim };
        else if (n === 39) look = { ...look, fill: undefined };
        else if (colors[n % 60] && n >= 30) look = { ...look, fill: colors[n % 60] };
      }
      continue;
    }
    const letters = [...text],
      room = columns - width;
    if (room <= 0) break;
    list.push({ look, text: letters.length > room ? `${letters.slice(0, room - 1).join("")}…` : text });
    width += letters.length;
  }
  return list;
}

const spans = (line) =>
  parts(line)
    .map(({ look, text }) => {
      const attributes = [look.fill && ` fill="${look.fill}"`, look.bold && ' font-weight="700"']
        .filter(Boolean)
        .join("");
      return attributes ? `<tspan${attributes}>${safe(text)}</tspan>` : safe(text);
    })
    .join("");

const lineAt = (row, inner) =>
  `<text x="${pad}" y="${head + pad + row * cell.h + 13}" xml:space="preserve">${inner}</text>`;

/** wrapped are the lines of a command, as a terminal shows it. */
function wrapped(command) {
  const all = [];
  for (let rest = `$ ${command}`; rest; rest = rest.slice(columns)) all.push(rest.slice(0, columns));
  return all;
}

/** animate draws scenes, one after the other: a command is typed, its output appears and rests for some seconds. */
export function animate(scenes, title) {
  const total = scenes.reduce((t, s) => t + 1 + s.command.length * typing + s.rest, 0);
  const percent = (t) => `${((100 * t) / total).toFixed(3)}%`;
  let at = 0,
    rows = 0,
    styles = "",
    groups = "";
  for (const [i, s] of scenes.entries()) {
    const typed = wrapped(s.command),
      lines = s.output.split("\n"),
      begin = at,
      done = at + 0.5 + s.command.length * typing,
      end = done + 0.5 + s.rest;
    at = end;
    rows = Math.max(rows, typed.length + lines.length);
    const shown = (name, from, to) =>
      `@keyframes ${name}{0%{visibility:hidden}${from ? `${percent(from - 0.001)}{visibility:hidden}` : ""}` +
      `${percent(from)}{visibility:visible}${percent(to - 0.001)}{visibility:visible}` +
      `${percent(to)}{visibility:hidden}100%{visibility:hidden}}` +
      `.${name}{animation:${name} ${total.toFixed(2)}s step-end infinite}`;
    styles += shown(`o${i}`, done + 0.4, end);
    let row = 0;
    for (const [k, text] of typed.entries()) {
      // A letter comes after the other: each has its moment.
      const from = begin + 0.4 + k * columns * typing,
        name = `t${i}_${k}`;
      styles += shown(name, from, end);
      styles +=
        `@keyframes c${name}{0%,${percent(from)}{transform:translateX(0);` +
        `animation-timing-function:steps(${text.length})}` +
        `${percent(from + text.length * typing)},100%` +
        `{transform:translateX(${(text.length * cell.w + 8).toFixed(1)}px)}}` +
        `.c${name}{animation:c${name} ${total.toFixed(2)}s infinite}`;
      const cover =
        `<rect class="c${name}" x="${pad}" y="${head + pad + row * cell.h}" ` +
        `width="${columns * cell.w + 8}" height="${cell.h}" fill="${ground}"/>`;
      const prompt = k ? safe(text) : `<tspan fill="${colors[36]}">$</tspan>${safe(text.slice(1))}`;
      groups += `<g class="${name} s">${lineAt(row, `<tspan font-weight="700">${prompt}</tspan>`)}${cover}</g>`;
      row++;
    }
    const still = i === scenes.length - 2 ? " still" : "",
      output = lines.map((l, n) => lineAt(row + n, spans(l))).join("");
    groups += `<g class="o${i} s${still}">${output}</g>`;
  }
  const width = Math.round(columns * cell.w + 2 * pad),
    height = Math.round(head + rows * cell.h + 2 * pad);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"
 role="img" aria-label="${title}">
<title>${title}</title>
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${ink}}
.s{visibility:hidden}${styles}
@media (prefers-reduced-motion:reduce){*{animation:none!important}.still{visibility:visible}}</style>
<clipPath id="w"><rect width="${width}" height="${height}" rx="10"/></clipPath>
<g clip-path="url(#w)"><rect width="${width}" height="${height}" fill="${ground}"/>
<rect width="${width}" height="${head}" fill="#1b242d"/>
<circle cx="20" cy="17" r="6" fill="#ff5f57"/><circle cx="40" cy="17" r="6" fill="#febc2e"/>
<circle cx="60" cy="17" r="6" fill="#28c840"/>
<text x="${width / 2}" y="22" text-anchor="middle" fill="${dim}">trireme</text>
${groups}</g></svg>
`;
}
