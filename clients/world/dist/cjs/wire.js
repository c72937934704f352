"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.decodeMessage = exports.encodeMessage = void 0;
// The body of a message, in the form of the other worlds: JSON, in which bytes are {"__type":"Uint8Array","data":"<base64>"}.
const codec_js_1 = require("./codec.js");
const encodeMessage = (message) => JSON.stringify(message, (_, v) => (v instanceof Uint8Array ? { __type: "Uint8Array", data: btoa((0, codec_js_1.latin1)(v)) } : v));
exports.encodeMessage = encodeMessage;
const decodeMessage = (text) => JSON.parse(text, (_, v) => v !== null && typeof v === "object" && v.__type === "Uint8Array" && typeof v.data === "string" ? (0, codec_js_1.bytesOf)(atob(v.data)) : v);
exports.decodeMessage = decodeMessage;
