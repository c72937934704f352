// Protocol buffers without their schema: fields by their numbers. What a field means is not in the bytes, so it is
// shown as what it may be: a number also signed, eight bytes also as a double, bytes as a text or as a message.
import { attempt, Broken, hexOf, Out, type Shown, textOf } from "./shown";

const deepest = 64;

class Reader {
  at = 0;
  private view: DataView;
  constructor(
    private b: Uint8Array,
    private end = b.length,
  ) {
    this.view = new DataView(b.buffer, b.byteOffset, b.length);
  }
  get over() {
    return this.at >= this.end;
  }
  varint(): bigint {
    let v = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (this.over) throw new Broken("it ends within a number", this.end);
      const c = this.b[this.at++];
      v |= BigInt(c & 127) << shift;
      if (c < 128) return v & 0xffffffffffffffffn;
    }
    throw new Broken("a number that is too long", this.at);
  }
  take(n: number) {
    if (this.at + n > this.end) throw new Broken("it ends within a field", this.end);
    this.at += n;
    return this.at - n;
  }

  /** fields writes the fields up to the end, or up to the end of a group. */
  fields(out: Out, depth: number, group?: bigint) {
    if (depth > deepest) throw new Broken("it is nested too deeply", this.at);
    while (!this.over) {
      const start = this.at,
        tag = this.varint(),
        field = tag >> 3n,
        kind = Number(tag & 7n);
      if (!field || field > 0x1fffffffn) throw new Broken("a field without a number", start);
      if (kind === 4) {
        if (field !== group) throw new Broken("the end of a group that has not begun", start);
        return;
      }
      this.field(out, depth, field, kind, start);
    }
    if (group !== undefined) throw new Broken("a group without an end", this.end);
  }

  private field(out: Out, depth: number, field: bigint, kind: number, start: number) {
    const one = (text: string) => out.line(depth, `${field}: ${text}`);
    switch (kind) {
      case 0:
        return one(whole(this.varint()));
      case 1: {
        const at = this.take(8);
        return one(`${this.view.getBigUint64(at, true)} <double ${this.view.getFloat64(at, true)}>`);
      }
      case 5: {
        const at = this.take(4);
        return one(`${this.view.getUint32(at, true)} <float ${short(this.view.getFloat32(at, true))}>`);
      }
      case 3:
        out.line(depth, `${field} {`);
        this.fields(out, depth + 1, field);
        return out.line(depth, "}");
      case 2: {
        const n = this.varint();
        if (n > BigInt(this.end - this.at)) throw new Broken("it ends within a field", this.end);
        const at = this.take(Number(n));
        return this.nested(out, depth, field, this.b.subarray(at, this.at));
      }
    }
    throw new Broken("a field of an unknown kind", start);
  }

  private nested(out: Out, depth: number, field: bigint, b: Uint8Array) {
    const text = textOf(b);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a text has none of them.
    if (text !== null && !/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text))
      return out.line(depth, `${field}: ${JSON.stringify(text)}`);
    if (b.length && isMessage(b, depth + 1)) {
      out.line(depth, `${field} {`);
      new Reader(b).fields(out, depth + 1);
      return out.line(depth, "}");
    }
    out.line(depth, `${field}: <bytes ${b.length} ${hexOf(b)}>`);
  }
}

const short = (n: number) => Number(n.toPrecision(7));
const whole = (v: bigint) => {
  const signed = BigInt.asIntN(64, v),
    zigzag = (v >> 1n) ^ -(v & 1n);
  return String(v) + (signed < 0n ? ` <signed ${signed}>` : zigzag < 0n ? ` <zigzag ${zigzag}>` : "");
};

function isMessage(b: Uint8Array, depth = 0): boolean {
  try {
    new Reader(b).fields(new Out(), depth);
    return true;
  } catch {
    return false;
  }
}

/** isProtobuf reports whether bytes can be a message. */
export const isProtobuf = (b: Uint8Array) => b.length > 1 && isMessage(b);

export function readProtobuf(b: Uint8Array): Shown {
  return attempt(() => {
    if (!b.length) throw new Error("it is empty");
    const out = new Out();
    new Reader(b).fields(out, 0);
    return out.text();
  });
}
