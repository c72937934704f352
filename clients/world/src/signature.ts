// Signatures of deliveries: a JWT by HMAC-SHA256 whose member body is the digest of the request's body.
import { latin1 } from "./codec.js";

/** How much clocks may differ, in seconds. */
const LEEWAY = 60;

const keys = new Map<string, Promise<CryptoKey>>();

const imported = (key: string): Promise<CryptoKey> => {
  let found = keys.get(key);
  if (!found) {
    found = crypto.subtle.importKey("raw", new TextEncoder().encode(key), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    keys.set(key, found);
  }
  return found;
};

const decoded = (base64url: string): Uint8Array<ArrayBuffer> => {
  const text = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (c) => c.charCodeAt(0));
};

const base64url = (bytes: Uint8Array): string => btoa(latin1(bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

/** Whether one of the keys has signed a body, and the signature is valid now. */
export const signed = async (token: string | null, body: Uint8Array<ArrayBuffer>, signingKeys: string[]): Promise<boolean> => {
  const [head, claims, signature, more] = (token ?? "").split(".");
  if (!head || !claims || !signature || more !== undefined) return false;
  try {
    const bytes = new TextEncoder().encode(`${head}.${claims}`);
    let good = false;
    for (const key of signingKeys) good = (await crypto.subtle.verify("HMAC", await imported(key), decoded(signature), bytes)) || good;
    if (!good) return false;
    const text = (part: string) => JSON.parse(new TextDecoder().decode(decoded(part)));
    const { exp, nbf, body: digest } = text(claims) as { exp?: number; nbf?: number; body?: string };
    const now = Date.now() / 1000;
    if (text(head).alg !== "HS256" || (exp ?? 0) + LEEWAY < now || (nbf ?? 0) - LEEWAY > now) return false;
    return digest?.replace(/=+$/, "") === base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", body)));
  } catch {
    return false; // no base64, or no JSON
  }
};
