// MessagePack, written as JSON would be. What JSON does not have stands in brackets: <bin 4 00ff12ab>, <ext 1 2 ff>.
import { attempt, Broken, hexOf, Out, type Shown, textOf } from "./shown";

const deepest = 128;

class Reader {
  at = 0;
  private view: DataView;
  constructor(private b: Uint8Array) {
    this.view = new DataView(b.buffer, b.byteOffset, b.length);
  }
  get over() {
    return this.at >= this.b.length;
  }
  private take(n: number) {
    if (this.at + n > this.b.length) throw new Broken("it ends within a value", this.b.length);
    this.at += n;
    return this.at - n;
  }
  private uint(n: number): number {
    const at = this.take(n);
    return n === 1 ? this.view.getUint8(at) : n === 2 ? this.view.getUint16(at) : this.view.getUint32(at);
  }
  private bytes(n: number) {
    const at = this.take(n);
    return this.b.subarray(at, at + n);
  }
  private words(n: number) {
    const b = this.bytes(n),
      text = textOf(b);
    return text === null ? `<str ${n} ${hexOf(b)}>` : JSON.stringify(text);
  }

  /** value writes the next value; first is what stands before it in its line. */
  value(out: Out, depth: number, first: string, last: string) {
    if (depth > deepest) throw new Broken("it is nested too deeply", this.at);
    const start = this.at,
      c = this.uint(1),
      one = (text: string) => out.line(depth, first + text + last);
    if (c < 0x80) return one(String(c));
    if (c < 0x90) return this.map(out, depth, first, last, c & 15);
    if (c < 0xa0) return this.list(out, depth, first, last, c & 15);
    if (c < 0xc0) return one(this.words(c & 31));
    if (c >= 0xe0) return one(String(c - 256));
    if (c >= 0xc4 && c <= 0xc6) {
      const b = this.bytes(this.uint(1 << (c - 0xc4)));
      return one(`<bin ${b.length} ${hexOf(b)}>`);
    }
    if (c >= 0xc7 && c <= 0xc9) return one(this.ext(this.uint(1 << (c - 0xc7))));
    if (c >= 0xcc && c <= 0xce) return one(String(this.uint(1 << (c - 0xcc))));
    if (c >= 0xd4 && c <= 0xd8) return one(this.ext(1 << (c - 0xd4)));
    if (c >= 0xd9 && c <= 0xdb) return one(this.words(this.uint(1 << (c - 0xd9))));
    switch (c) {
      case 0xc0:
        return one("null");
      case 0xc2:
        return one("false");
      case 0xc3:
        return one("true");
      case 0xca:
        return one(decimal(this.view.getFloat32(this.take(4))));
      case 0xcb:
        return one(decimal(this.view.getFloat64(this.take(8))));
      case 0xcf:
        return one(String(this.view.getBigUint64(this.take(8))));
      case 0xd0:
        return one(String(this.view.getInt8(this.take(1))));
      case 0xd1:
        return one(String(this.view.getInt16(this.take(2))));
      case 0xd2:
        return one(String(this.view.getInt32(this.take(4))));
      case 0xd3:
        return one(String(this.view.getBigInt64(this.take(8))));
      case 0xdc:
      case 0xdd:
        return this.list(out, depth, first, last, this.uint(c === 0xdc ? 2 : 4));
      case 0xde:
      case 0xdf:
        return this.map(out, depth, first, last, this.uint(c === 0xde ? 2 : 4));
    }
    throw new Broken("a byte that begins no value", start);
  }

  private list(out: Out, depth: number, first: string, last: string, n: number) {
    if (!n) return out.line(depth, `${first}[]${last}`);
    out.line(depth, `${first}[`);
    for (let i = 0; i < n; i++) this.value(out, depth + 1, "", i < n - 1 ? "," : "");
    out.line(depth, `]${last}`);
  }

  private map(out: Out, depth: number, first: string, last: string, n: number) {
    if (!n) return out.line(depth, `${first}{}${last}`);
    out.line(depth, `${first}{`);
    for (let i = 0; i < n; i++) {
      const key = new Out();
      this.value(key, 0, "", "");
      this.value(
        out,
        depth + 1,
        `${key
          .text()
          .replace(/\s*\n\s*/g, " ")
          .trim()}: `,
        i < n - 1 ? "," : "",
      );
    }
    out.line(depth, `}${last}`);
  }

  private ext(n: number): string {
    const type = this.view.getInt8(this.take(1)),
      b = this.bytes(n),
      time = type === -1 ? moment(b) : undefined;
    return time === undefined ? `<ext ${type} ${n} ${hexOf(b)}>` : `<time ${time}>`;
  }
}

const decimal = (n: number) => (Number.isInteger(n) && Math.abs(n) < 1e15 ? n.toFixed(1) : String(n));

/** moment is a timestamp of MessagePack, to milliseconds. */
function moment(b: Uint8Array): string | undefined {
  const v = new DataView(b.buffer, b.byteOffset, b.length);
  let ms: number;
  if (b.length === 4) ms = v.getUint32(0) * 1e3;
  else if (b.length === 8) {
    const all = v.getBigUint64(0);
    ms = Number(all & 0x3ffffffffn) * 1e3 + Math.floor(Number(all >> 34n) / 1e6);
  } else if (b.length === 12) ms = Number(v.getBigInt64(4)) * 1e3 + Math.floor(v.getUint32(0) / 1e6);
  else return undefined;
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : undefined;
}

/** readMsgpack shows bytes that are one value of MessagePack, and nothing else: any ASCII text would be several. */
export function readMsgpack(b: Uint8Array): Shown {
  return attempt(() => {
    if (!b.length) throw new Error("it is empty");
    const r = new Reader(b),
      out = new Out();
    r.value(out, 0, "", "");
    if (!r.over) throw new Broken("more follows the value", r.at);
    return out.text();
  });
}

/** isMsgpack reports whether bytes are one map or list of MessagePack, and nothing else. */
export function isMsgpack(b: Uint8Array): boolean {
  const c = b[0] ?? 0;
  if (!((c >= 0x80 && c < 0xa0) || (c >= 0xdc && c <= 0xdf))) return false;
  try {
    const r = new Reader(b);
    r.value(new Out(), 0, "", "");
    return r.over;
  } catch {
    return false;
  }
}
