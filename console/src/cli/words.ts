// A line that somebody types, in words.
import { enc } from "../api";

/** codePoint of a text at i, which is within it. */
const codePoint = (text: string, i: number) => text.codePointAt(i) ?? 0;

/** words splits a line as redis-cli does. */
export function words(line: string): string[] {
  const out: string[] = [];
  for (let i = 0; i < line.length; ) {
    if (/\s/.test(line[i])) {
      i++;
      continue;
    }
    let word = "";
    for (; i < line.length && !/\s/.test(line[i]); ) {
      const quote = line[i];
      if (quote !== '"' && quote !== "'") {
        const c = codePoint(line, i);
        word += enc(String.fromCodePoint(c));
        i += c > 0xffff ? 2 : 1;
        continue;
      }
      let closed = false;
      for (i++; i < line.length; i++) {
        if (line[i] === quote) {
          i++;
          closed = true;
          break;
        }
        if (line[i] !== "\\" || i + 1 >= line.length) {
          const c = codePoint(line, i);
          word += enc(String.fromCodePoint(c));
          if (c > 0xffff) i++;
          continue;
        }
        const next = line[++i];
        if (quote === "'") word += next === "'" ? "'" : `\\${enc(next)}`;
        else if (next === "x" && /^[0-9a-f]{2}$/i.test(line.slice(i + 1, i + 3))) {
          word += String.fromCharCode(parseInt(line.slice(i + 1, i + 3), 16));
          i += 2;
        } else word += ({ n: "\n", r: "\r", t: "\t", a: "\x07", b: "\b" } as Record<string, string>)[next] ?? enc(next);
      }
      if (!closed) throw new Error("A quote is not closed");
    }
    out.push(word);
  }
  return out;
}
