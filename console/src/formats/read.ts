// The formats of a value, and which one it is likely to have.
import { decodeBase64 } from "./base64";
import { readHex } from "./hex";
import { isJson, readJson } from "./json";
import { isMsgpack, readMsgpack } from "./msgpack";
import { isProtobuf, readProtobuf } from "./protobuf";
import { most, type Shown, textOf } from "./shown";

export const formats = ["text", "json", "msgpack", "base64", "protobuf", "hex"] as const;
export type Format = (typeof formats)[number];
export const formatName: Record<Format, string> = {
  text: "Text",
  json: "JSON",
  msgpack: "MessagePack",
  base64: "Base64",
  protobuf: "Protobuf",
  hex: "Hex",
};

/** guess is the format that a value is likely to have. Base64 is never guessed: most words could be some. */
export function guess(b: Uint8Array): Format {
  const text = textOf(b);
  if (text !== null) return b.length <= most && /^\s*[{[]/.test(text) && isJson(text) ? "json" : "text";
  if (b.length > most) return "hex";
  return isMsgpack(b) ? "msgpack" : isProtobuf(b) ? "protobuf" : "hex";
}

/** read shows a value in a format. */
export function read(b: Uint8Array, as: Format): Shown {
  switch (as) {
    case "text": {
      const text = textOf(b);
      return text === null ? { text: "", problem: "it is no UTF-8 text" } : { text };
    }
    case "json":
      return readJson(b);
    case "msgpack":
      return readMsgpack(b);
    case "protobuf":
      return readProtobuf(b);
    case "hex":
      return readHex(b);
  }
  try {
    const inner = decodeBase64(b);
    return read(inner, guess(inner));
  } catch (e) {
    return { text: "", problem: (e as Error).message };
  }
}
