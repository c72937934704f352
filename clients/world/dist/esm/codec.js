// How values are written: JSON, in which bytes are a text with one character (U+0000 to U+00FF) for each byte. Payloads of the SDK are nearly
// all ASCII, so they are stored as they are, can be read in the console, and need no base64.
const CHUNK = 8192;
/** A text with one character for each byte. */
export const latin1 = (bytes) => {
    if (typeof Buffer !== "undefined")
        return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
    let text = "";
    for (let i = 0; i < bytes.length; i += CHUNK)
        text += String.fromCharCode(...bytes.subarray(i, i + CHUNK));
    return text;
};
/** The bytes of such a text. */
export const bytesOf = (text) => {
    if (typeof Buffer !== "undefined")
        return new Uint8Array(Buffer.from(text, "latin1"));
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++)
        bytes[i] = text.charCodeAt(i);
    return bytes;
};
const plain = (value) => {
    if (value === null || typeof value !== "object")
        return value;
    if (value instanceof Uint8Array)
        return { $bytes: latin1(value) };
    if (value instanceof Date)
        return { $date: value.getTime() };
    if (Array.isArray(value))
        return value.map((v) => (v === undefined ? null : plain(v)));
    if (typeof value.toJSON === "function")
        return value;
    const out = {};
    let marked = false;
    for (const [name, member] of Object.entries(value)) {
        marked ||= name.startsWith("$");
        if (member !== undefined)
            out[name] = plain(member);
    }
    return marked ? { $object: out } : out;
};
const lively = (value) => {
    if (value === null || typeof value !== "object")
        return value;
    if (Array.isArray(value))
        return value.map(lively);
    const v = value;
    if (typeof v.$bytes === "string")
        return bytesOf(v.$bytes);
    if (typeof v.$date === "number")
        return new Date(v.$date);
    return members(v.$object ?? v);
};
const members = (v) => Object.fromEntries(Object.entries(v).map(([name, member]) => [name, lively(member)]));
export const encode = (value) => JSON.stringify(plain(value)) ?? "null";
// biome-ignore lint/suspicious/noExplicitAny: it is what the caller has encoded
export const decode = (text) => lively(JSON.parse(text));
