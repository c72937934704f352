// An identity provider of OpenID Connect for the tests of the console: it signs in whoever comes.
import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { createServer } from "node:http";

/** startProvider begins one; claims are those of the next person. */
export async function startProvider(claims) {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const codes = new Map(),
    pack = (v) => Buffer.from(JSON.stringify(v)).toString("base64url");
  const p = { claims, url: "" };
  const routes = {
    "/.well-known/openid-configuration": () => ({
      issuer: p.url,
      authorization_endpoint: `${p.url}/authorize`,
      token_endpoint: `${p.url}/token`,
      jwks_uri: `${p.url}/keys`,
      id_token_signing_alg_values_supported: ["ES256"],
    }),
    "/keys": () => ({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "1", alg: "ES256", use: "sig" }] }),
    "/token": (q) => {
      const asked = codes.get(q.get("code"));
      if (
        !codes.delete(q.get("code")) ||
        createHash("sha256").update(q.get("code_verifier")).digest("base64url") !== asked.get("code_challenge")
      )
        return null;
      const now = Math.floor(Date.now() / 1000);
      const text =
        pack({ alg: "ES256", kid: "1" }) +
        "." +
        pack({
          iss: p.url,
          aud: asked.get("client_id"),
          sub: "1",
          iat: now,
          exp: now + 600,
          nonce: asked.get("nonce"),
          ...p.claims,
        });
      const signed = sign("sha256", text, { key: privateKey, dsaEncoding: "ieee-p1363" });
      return {
        access_token: "none",
        token_type: "Bearer",
        id_token: `${text}.${signed.toString("base64url")}`,
      };
    },
  };
  const server = createServer(async (q, r) => {
    const url = new URL(q.url, p.url);
    if (url.pathname === "/authorize") {
      const code = randomUUID();
      codes.set(code, url.searchParams);
      return r
        .writeHead(302, {
          Location:
            url.searchParams.get("redirect_uri") +
            "?" +
            new URLSearchParams({ code, state: url.searchParams.get("state") }),
        })
        .end();
    }
    let body = "";
    for await (const part of q) body += part;
    const answer = routes[url.pathname]?.(new URLSearchParams(body));
    r.writeHead(answer ? 200 : 400, { "Content-Type": "application/json" }).end(
      JSON.stringify(answer ?? { error: "invalid_grant" }),
    );
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  server.unref();
  p.url = `http://127.0.0.1:${server.address().port}`;
  return p;
}
