// Keys as a tree of folders, and keys in URLs.
import { enc, show, utf8 } from "../api";
import { count } from "../format";
import { Icon } from "../ui/icons";
import { A } from "../ui/layout";

const join = ":";

/** A key stands in a URL by its bytes. */
export function keyQuery(key: string) {
  const text = utf8(key);
  return text !== null ? { key: text } : { bytes: btoa(key) };
}
export function keyOf(q: URLSearchParams): string | undefined {
  const bytes = q.get("bytes"),
    text = q.get("key");
  return bytes !== null ? atob(bytes) : text !== null ? enc(text) : undefined;
}

export function Crumbs({ prefix, to }: { prefix: string; to: (p: string) => Record<string, string | undefined> }) {
  const parts = prefix.split(join).slice(0, -1);
  return (
    <nav class="crumbs" aria-label="Prefix">
      <A to="/data" q={to("")}>
        all keys
      </A>
      {parts.map((p, i) => (
        <span key={i}>
          <span class="dim"> / </span>
          <A to="/data" q={to(parts.slice(0, i + 1).join(join) + join)}>
            <bdi>{show(p) || "(empty)"}</bdi>
          </A>
        </span>
      ))}
    </nav>
  );
}

export function Tree({
  keys,
  prefix,
  flat,
  now,
  to,
}: {
  keys: string[];
  prefix: string;
  flat: boolean;
  now?: string;
  to: (m: Record<string, string | undefined>) => Record<string, string | undefined>;
}) {
  const folders = new Map<string, number>(),
    leaves: string[] = [];
  for (const k of keys) {
    const cut = flat ? -1 : k.indexOf(join, prefix.length);
    if (cut < 0 || cut === k.length - 1) leaves.push(k);
    else folders.set(k.slice(0, cut + 1), (folders.get(k.slice(0, cut + 1)) ?? 0) + 1);
  }
  // A folder of one key is that key.
  for (const [f, n] of folders)
    if (n === 1) {
      folders.delete(f);
      const only = keys.find((k) => k.startsWith(f));
      if (only !== undefined) leaves.push(only);
    }
  leaves.sort();
  return (
    <div class="tree">
      {[...folders].sort().map(([f, n]) => {
        const text = utf8(f);
        return text === null ? null : (
          <A key={f} to="/data" q={to({ prefix: text })}>
            <Icon name="folder" />
            <span class="name">
              <bdi>{show(f.slice(prefix.length))}</bdi>
            </span>
            <small>{count(n)}</small>
          </A>
        );
      })}
      {leaves.map((k) => (
        <A
          key={k}
          to="/data"
          q={to(keyQuery(k))}
          aria-current={k === now ? "true" : undefined}
          title={show(k).slice(0, 300)}
        >
          <Icon name="key" />
          <span class="name">
            <bdi>{show(k.slice(prefix.length)).slice(0, 300) || "(empty)"}</bdi>
          </span>
        </A>
      ))}
    </div>
  );
}
