// Signing keys, and why a signature fails.
import { useState } from "preact/hooks";
import { json, plain } from "../api";
import { mayWrite } from "../messages/event";
import { Area, Button, Copy, Field, Text } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { Badge, Card, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";

const unb64 = (s: string) => Uint8Array.from(atob(s.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const b64url = (u: ArrayBuffer) =>
  btoa(String.fromCharCode(...new Uint8Array(u)))
    .replace(/\+/g, "-")
    .replace(/\//g, "_");
const strip = (s: string) => s.replace(/=+$/, "");

type Claims = { iss: string; sub: string; nbf: number; exp: number; body?: string };

/** verify says why a signature fails, step by step. */
async function verify(
  token: string,
  body: string,
  keys: { current: string; next: string },
  url: string,
): Promise<[boolean, string][]> {
  const parts = token
      .trim()
      .replace(/^.*:\s*/, "")
      .split("."),
    out: [boolean, string][] = [];
  if (parts.length !== 3)
    return [
      [
        false,
        "This is no signature: it has three parts with dots between them. Is it the header Upstash-Signature, whole?",
      ],
    ];
  let head: { alg: string }, claims: Claims;
  try {
    head = JSON.parse(new TextDecoder().decode(unb64(parts[0])));
    claims = JSON.parse(new TextDecoder().decode(unb64(parts[1])));
  } catch {
    return [[false, "Its parts can't be decoded: a proxy may have changed the header."]];
  }
  out.push([head.alg === "HS256", `algorithm ${head.alg}`]);
  let signed = "";
  for (const [label, key] of [
    ["current", keys.current],
    ["next", keys.next],
  ]) {
    const k = await crypto.subtle.importKey(
      "raw",
      new TextEncoder().encode(key),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["sign"],
    );
    if (
      strip(b64url(await crypto.subtle.sign("HMAC", k, new TextEncoder().encode(`${parts[0]}.${parts[1]}`)))) ===
      strip(parts[2])
    )
      signed = label;
  }
  out.push([
    !!signed,
    signed
      ? `signed with the ${signed} key`
      : "signed with neither of the two keys: the app has keys of another cluster, or of before a rotation",
  ]);
  const now = Date.now() / 1000;
  out.push([claims.iss === "Upstash", `issuer ${claims.iss}`]);
  out.push([
    claims.nbf <= now + 5,
    claims.nbf <= now + 5
      ? "valid already"
      : `valid from ${new Date(claims.nbf * 1000).toISOString()} on: the app's clock is slow`,
  ]);
  out.push([
    claims.exp > now,
    claims.exp > now
      ? "not expired"
      : `expired at ${new Date(claims.exp * 1000).toISOString()}: ` +
        "expected of an old request; otherwise the app's clock is fast",
  ]);
  if (url)
    out.push([
      claims.sub === url,
      claims.sub === url
        ? "made for this URL"
        : `made for ${claims.sub}, not for ${url}: a proxy changes the host, the scheme or the path`,
    ]);
  else out.push([true, `made for ${claims.sub}`]);
  const sum = strip(b64url(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body))));
  out.push([
    sum === strip(claims.body ?? ""),
    sum === strip(claims.body ?? "")
      ? "the body is the one that was signed"
      : "the body is not the one that was signed: verify the raw bytes, before anything parses them",
  ]);
  return out;
}

export function SigningKeys() {
  const keys = useLoad<{ current: string; next: string }>((poll) => json("/v2/keys", { poll }), []);
  const [shown, show] = useState(false),
    [token, put] = useState(""),
    [body, write] = useState(""),
    [url, at] = useState(""),
    [found, say] = useState<[boolean, string][]>([]);
  const mask = (k: string) => (shown ? k : `${k.slice(0, 7)}…`);
  return (
    <Page
      title="Signing keys"
      sub="Your apps verify with these that a request comes from this cluster"
      acts={
        mayWrite() &&
        keys.data && (
          <Button
            class="bad"
            onClick={() =>
              sure({
                title: "Rotate the signing keys",
                name: "rotate",
                verb: "Rotate",
                done: "Rotated",
                text: (
                  <p>
                    The next key becomes the current one, and a new next key is drawn. Apps that know only the current
                    key refuse requests from now on: they need both.
                  </p>
                ),
                go: () => json("/v2/keys/rotate", { method: "POST" }).then(keys.again),
              })
            }
          >
            Rotate
          </Button>
        )
      }
    >
      <Loaded of={keys}>
        {(k) => (
          <>
            <Card
              title="Keys"
              acts={
                <Button kind="quiet" onClick={() => show(!shown)}>
                  {shown ? "Hide" : "Show"}
                </Button>
              }
            >
              {(["current", "next"] as const).map((n) => (
                <div key={n} class="node">
                  <b>{n}</b>
                  <span class="mono">{mask(k[n])}</span>
                  <span class="push">
                    <Copy text={k[n]} />
                  </span>
                </div>
              ))}
            </Card>
            <Card title="Why does my signature fail?">
              <form
                onSubmit={async (e) => {
                  e.preventDefault();
                  say(await verify(token, body, k, url));
                }}
              >
                <div class="form">
                  <Field label="The header Upstash-Signature as your app got it" wide>
                    <Area value={token} onText={put} rows={3} required />
                  </Field>
                  <Field label="The body as your app got it" wide>
                    <Area value={body} onText={write} rows={4} />
                  </Field>
                  <Field label="The URL that your app verifies against" help="Leave empty to skip this check" wide>
                    <Text value={url} onText={at} />
                  </Field>
                  <div class="acts">
                    <Button type="submit" kind="main">
                      Check
                    </Button>
                    <span class="dim">It is checked in this page and sent nowhere.</span>
                  </div>
                </div>
              </form>
              {found.length > 0 && (
                <div role="status">
                  <br />
                  {found.map(([ok, text], i) => (
                    <div key={i} class="node">
                      <Badge tone={ok ? "good" : "bad"}>{ok ? "ok" : "fails"}</Badge>
                      {plain(text)}
                    </div>
                  ))}
                </div>
              )}
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  );
}
