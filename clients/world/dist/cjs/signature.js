"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.signed = void 0;
// Signatures of deliveries: a JWT by HMAC-SHA256 whose member body is the digest of the request's body.
const codec_js_1 = require("./codec.js");
/** How much clocks may differ, in seconds. */
const LEEWAY = 60;
// Where there is node:crypto it is used: it answers at once, without a thread.
const node = typeof process === "undefined" ? undefined : process.getBuiltinModule?.("node:crypto");
const keys = new Map();
const imported = (key) => {
    let found = keys.get(key);
    if (!found) {
        found = crypto.subtle.importKey("raw", new TextEncoder().encode(key), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
        keys.set(key, found);
    }
    return found;
};
const decoded = (base64url) => {
    const text = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(text, (c) => c.charCodeAt(0));
};
const base64url = (bytes) => btoa((0, codec_js_1.latin1)(bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const verified = async (key, signature, bytes) => {
    if (!node)
        return crypto.subtle.verify("HMAC", await imported(key), signature, bytes);
    const made = node.createHmac("sha256", key).update(bytes).digest();
    return made.length === signature.length && node.timingSafeEqual(made, signature);
};
const sha256 = async (bytes) => node ? node.createHash("sha256").update(bytes).digest() : new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
/** Whether one of the keys has signed a body, and the signature is valid now. */
const signed = async (token, body, signingKeys) => {
    const [head, claims, signature, more] = (token ?? "").split(".");
    if (!head || !claims || !signature || more !== undefined)
        return false;
    try {
        const bytes = new TextEncoder().encode(`${head}.${claims}`);
        let good = false;
        for (const key of signingKeys)
            good = (await verified(key, decoded(signature), bytes)) || good;
        if (!good)
            return false;
        const text = (part) => JSON.parse(new TextDecoder().decode(decoded(part)));
        const { exp, nbf, body: digest } = text(claims);
        const now = Date.now() / 1000;
        if (text(head).alg !== "HS256" || (exp ?? 0) + LEEWAY < now || (nbf ?? 0) - LEEWAY > now)
            return false;
        return digest?.replace(/=+$/, "") === base64url(await sha256(body));
    }
    catch {
        return false; // no base64, or no JSON
    }
};
exports.signed = signed;
