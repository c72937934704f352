// Errors as endpoints answer them, taken apart.

export type Frame = { call: string; place: string; own: boolean };
export type Thrown = { name: string; message: string; frames: Frame[]; stack: string };

const strings = (v: unknown) => (typeof v === "string" ? v : "");
const foreign = /node_modules|node:|\binternal\/|site-packages|<frozen |\/usr\/lib\//;

/** thrown reads an answer that is the JSON of an error, as SDKs send it; null for any other. */
export function thrown(body: string | undefined): Thrown | null {
  if (!body || body.length > 1 << 20) return null;
  let o: unknown;
  try {
    o = JSON.parse(body);
  } catch {
    return null;
  }
  if (typeof o !== "object" || o === null) return null;
  const { error, message, stack } = o as { error?: unknown; message?: unknown; stack?: unknown };
  const text = strings(message) || strings(error);
  if (!text) return null;
  const name = strings(message) ? strings(error) : "";
  return { name, message: text, frames: frames(strings(stack)), stack: strings(stack) };
}

/** frames are the calls of a stack of JavaScript or Python, the innermost first; at most a hundred. */
export function frames(stack: string): Frame[] {
  const list: Frame[] = [];
  for (const line of stack.split("\n").slice(0, 400)) {
    const js = /^\s*at (?:(.+?) \((.+)\)|(.+))$/.exec(line),
      py = /^\s*File "(.+)", line (\d+)(?:, in (.+))?$/.exec(line);
    if (js) list.push(frame(js[1] ?? "", js[2] ?? js[3]));
    else if (py) list.unshift(frame(py[3] ?? "", `${py[1]}:${py[2]}`));
    if (list.length === 100) break;
  }
  return list;
}
const frame = (call: string, place: string): Frame => ({
  call,
  place: place.replace(/^file:\/\//, ""),
  own: !foreign.test(place),
});
