// The body of a message, in the form of the other worlds: JSON, in which bytes are {"__type":"Uint8Array","data":"<base64>"}.
import { bytesOf, latin1 } from "./codec.js";

export const encodeMessage = (message: unknown): string =>
  JSON.stringify(message, (_, v) => (v instanceof Uint8Array ? { __type: "Uint8Array", data: btoa(latin1(v)) } : v));

export const decodeMessage = (text: string): unknown =>
  JSON.parse(text, (_, v) =>
    v !== null && typeof v === "object" && v.__type === "Uint8Array" && typeof v.data === "string" ? bytesOf(atob(v.data)) : v,
  );
