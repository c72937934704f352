// Keys as a tree of folders, and keys in URLs.
import { enc, show, utf8 } from "../api";
import { bytes, count, figure, things } from "../format";
import type { Query } from "../router";
import { Icon } from "../ui/icons";
import { A } from "../ui/layout";
import type { Fact } from "./facts";
import type { Found } from "./scan";
import { typeName } from "./types";

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

export function Crumbs({ prefix, to }: { prefix: string; to: (p: string) => Query }) {
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

export type Branches = { folders: [string, number][]; leaves: Found[] };

/** branches are the folders right below a prefix, with how many keys were found in each, and the keys beside them.
 * Once all keys are known, a folder of one key is that key. */
export function branches(found: Found[], prefix: string, flat: boolean, whole: boolean): Branches {
  const folders = new Map<string, Found[]>(),
    leaves: Found[] = [];
  for (const f of found) {
    const cut = flat ? -1 : f.key.indexOf(join, prefix.length);
    if (cut < 0 || cut === f.key.length - 1) leaves.push(f);
    else {
      const name = f.key.slice(0, cut + 1),
        list = folders.get(name);
      if (list) list.push(f);
      else folders.set(name, [f]);
    }
  }
  for (const [name, list] of folders)
    if ((whole && list.length === 1) || utf8(name) === null) {
      folders.delete(name);
      leaves.push(...list);
    }
  leaves.sort((a, b) => (a.key < b.key ? -1 : 1));
  return { folders: [...folders].map(([f, list]) => [f, list.length] as [string, number]).sort(), leaves };
}

export function Folder({
  name,
  keys,
  whole,
  prefix,
  to,
}: {
  name: string;
  keys: number;
  whole: boolean; // all keys were looked at
  prefix: string;
  to: (m: Query) => Query;
}) {
  return (
    <div class="branch">
      <A class="name" to="/data" q={to({ prefix: utf8(name) ?? "" })}>
        <Icon name="folder" />
        <bdi>{show(name.slice(prefix.length))}</bdi>
      </A>
      <small class="keys" title={whole ? undefined : "At least: not all keys were looked at"}>
        {whole ? things(keys, "key") : `${count(keys)}+ keys`}
      </small>
    </div>
  );
}

export function Leaf({
  of,
  fact,
  prefix,
  now,
  to,
  chosen,
  choose,
}: {
  of: Found;
  fact?: Fact;
  prefix: string;
  now: boolean;
  to: (m: Query) => Query;
  chosen: boolean;
  choose: (range: boolean) => void;
}) {
  const full = show(of.key).slice(0, 300);
  return (
    <div class={now ? "leaf-row now" : "leaf-row"}>
      <input type="checkbox" checked={chosen} aria-label={`Select ${full}`} onClick={(e) => choose(e.shiftKey)} />
      <A class="name" to="/data" q={to(keyQuery(of.key))} aria-current={now ? "true" : undefined} title={full}>
        <bdi>{show(of.key.slice(prefix.length)).slice(0, 300) || "(empty)"}</bdi>
      </A>
      <small class="type">{typeName(of.type)}</small>
      <small class="ttl" title="Time to live">
        {fact && (fact.ttl === undefined ? "–" : fact.ttl < 0 ? "no expiry" : figure("PTTL", "ttl", fact.ttl))}
      </small>
      <small class="size" title="Memory">
        {fact && (fact.size === undefined ? "–" : bytes(fact.size))}
      </small>
    </div>
  );
}
