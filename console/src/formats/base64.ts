// Base64, with either alphabet, with and without padding: what it encodes.
import { Broken, textOf } from "./shown";

const of = (c: number): number => {
  if (c >= 65 && c <= 90) return c - 65;
  if (c >= 97 && c <= 122) return c - 71;
  if (c >= 48 && c <= 57) return c + 4;
  if (c === 43 || c === 45) return 62; // + -
  if (c === 47 || c === 95) return 63; // / _
  return -1;
};
const isSpace = (c: number) => c === 32 || c === 10 || c === 13 || c === 9;

/** decodeBase64 returns what a base64 text encodes. Blanks and ends of lines in it do not count. */
export function decodeBase64(b: Uint8Array): Uint8Array<ArrayBuffer> {
  if (textOf(b) === null) throw new Error("it is no text");
  const out = new Uint8Array(Math.ceil((b.length * 3) / 4));
  let bits = 0,
    held = 0,
    n = 0,
    digits = 0,
    pads = 0;
  for (let i = 0; i < b.length; i++) {
    if (isSpace(b[i])) continue;
    if (b[i] === 61) {
      pads++;
      continue;
    }
    const v = of(b[i]);
    if (v < 0 || pads) throw new Broken(pads ? "a letter after the padding" : "a letter that base64 does not have", i);
    digits++;
    held = ((held << 6) | v) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out[n++] = (held >> bits) & 255;
    }
  }
  if (digits % 4 === 1 || pads > 2 || (pads && (digits + pads) % 4))
    throw new Error("its length is not that of base64");
  return out.subarray(0, n);
}
