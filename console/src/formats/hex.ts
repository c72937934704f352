// Bytes in hexadecimal, sixteen in a line, with the letters that they are.
import { Out, type Shown } from "./shown";

export function readHex(b: Uint8Array): Shown {
  const out = new Out();
  for (let i = 0; i < b.length && !out.full; i += 16) {
    const row = Array.from(b.subarray(i, i + 16));
    const digits = row.map((x, n) => (n === 8 ? " " : "") + x.toString(16).padStart(2, "0")).join(" ");
    const letters = row.map((x) => (x >= 0x20 && x < 0x7f ? String.fromCharCode(x) : ".")).join("");
    out.line(0, `${i.toString(16).padStart(8, "0")}  ${digits.padEnd(48)}  ${letters}`);
  }
  return { text: out.text() };
}
