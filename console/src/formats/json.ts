// JSON laid out over lines. Numbers stay as they are written: a parser would lose digits of large ones.
import { type Shown, textOf } from "./shown";

const string = /"(?:[^"\\]|\\.)*"/y;
const token = /[^\s{}[\],:"]+/y;

/** layJson lays out a text that is valid JSON. */
export function layJson(text: string): string {
  const out: string[] = [];
  let depth = 0,
    at = 0;
  const line = () => out.push("\n", "  ".repeat(depth));
  const skip = () => {
    while (" \n\r\t".includes(text[at] ?? "x")) at++;
  };
  for (skip(); at < text.length; skip()) {
    const c = text[at];
    if (c === "{" || c === "[") {
      at++;
      skip();
      out.push(c);
      if (text[at] === "}" || text[at] === "]") out.push(text[at++]);
      else {
        depth++;
        line();
      }
    } else if (c === "}" || c === "]") {
      depth--;
      line();
      out.push(c);
      at++;
    } else if (c === ",") {
      out.push(c);
      line();
      at++;
    } else if (c === ":") {
      out.push(": ");
      at++;
    } else {
      const of = c === '"' ? string : token;
      of.lastIndex = at;
      const word = of.exec(text)?.[0] ?? c;
      out.push(word);
      at += word.length;
    }
  }
  return out.join("");
}

/** isJson reports whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** readJson shows bytes as JSON. */
export function readJson(b: Uint8Array): Shown {
  const text = textOf(b);
  if (text === null) return { text: "", problem: "it is no UTF-8 text" };
  try {
    JSON.parse(text);
  } catch (e) {
    return { text: "", problem: (e as Error).message };
  }
  return { text: layJson(text) };
}
