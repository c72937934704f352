// The list of keys, of which some can be selected.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { database, show } from "../api";
import { count, things } from "../format";
import type { Query } from "../router";
import { Button } from "../ui/controls";
import { Empty } from "../ui/layout";
import { Bulk, type Target } from "./bulk";
import { useFacts } from "./facts";
import type { Match, Scan } from "./scan";
import { Tally } from "./tally";
import { branches, Crumbs, Folder, Leaf } from "./tree";

export function KeyList({
  scan,
  match,
  prefix,
  flat,
  now,
  to,
  busy,
  goOn,
  changed,
  turn,
}: {
  scan: Scan;
  match: Match;
  prefix: string;
  flat: boolean;
  now?: string;
  to: (m: Query) => Query;
  busy: boolean;
  goOn: () => void;
  changed: () => void;
  turn: number; // another one: what is known of keys may be old
}) {
  const whole = scan.cursor === "0",
    narrow = match.pattern !== "*" || !!match.type;
  const { folders, leaves } = useMemo(() => branches(scan.found, prefix, flat, whole), [scan, prefix, flat]);
  const keys = useMemo(() => leaves.map((l) => l.key), [leaves]);
  const facts = useFacts(keys, `${database.value} ${turn}`);
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const [target, act] = useState<Target | null>(null);
  const last = useRef(-1);
  useEffect(() => choose(new Set()), [match.pattern, match.type, database.value, turn]);
  const pick = (i: number, range: boolean) => {
    const set = new Set(chosen),
      on = !set.has(keys[i]),
      from = range && last.current >= 0 ? Math.min(last.current, i) : i,
      to = range && last.current >= 0 ? Math.max(last.current, i) : i;
    for (const k of keys.slice(from, to + 1)) on ? set.add(k) : set.delete(k);
    last.current = i;
    choose(set);
  };
  const all = keys.length > 0 && keys.every((k) => chosen.has(k));
  const some = leaves.filter((l) => chosen.has(l.key));
  return (
    <>
      {!flat && <Crumbs prefix={prefix} to={(p) => to({ prefix: show(p) || undefined })} />}
      {leaves.length > 0 && (
        <div class="tree-head">
          <label class="check">
            <input
              type="checkbox"
              checked={all}
              ref={(box) => {
                if (box) box.indeterminate = some.length > 0 && !all;
              }}
              onChange={() => choose(all ? new Set() : new Set(keys))}
            />
            {some.length ? `${count(some.length)} selected` : `Select the ${things(keys.length, "key")} listed`}
          </label>
          {some.length > 0 && (
            <span class="push acts">
              <Button kind="quiet" onClick={() => act({ act: "expire", keys: some })}>
                Set expiry
              </Button>
              <Button kind="quiet" class="bad" icon="trash" onClick={() => act({ act: "delete", keys: some })}>
                Delete
              </Button>
            </span>
          )}
        </div>
      )}
      {scan.found.length ? (
        <div class="tree">
          {folders.map(([name, n]) => (
            <Folder key={name} name={name} keys={n} whole={whole} prefix={prefix} to={to} />
          ))}
          {leaves.map((l, i) => (
            <Leaf
              key={l.key}
              of={l}
              fact={facts.get(l.key)}
              prefix={flat ? "" : prefix}
              now={l.key === now}
              to={to}
              chosen={chosen.has(l.key)}
              choose={(range) => pick(i, range)}
            />
          ))}
        </div>
      ) : (
        <Nothing whole={whole} narrow={narrow} />
      )}
      <div class="tree-foot">
        <Tally key={`${match.pattern} ${match.type}`} scan={scan} match={match} />
        {!whole && (
          <Button kind="quiet" busy={busy} onClick={goOn}>
            Load more keys
          </Button>
        )}
        {narrow && scan.found.length > 0 && (
          <span class="push acts">
            <Button kind="quiet" onClick={() => act({ act: "expire", match })}>
              Expire all that match
            </Button>
            <Button kind="quiet" class="bad" onClick={() => act({ act: "delete", match })}>
              Delete all that match
            </Button>
          </span>
        )}
      </div>
      {target && <Bulk of={target} close={() => act(null)} done={changed} />}
    </>
  );
}

const Nothing = ({ whole, narrow }: { whole: boolean; narrow: boolean }) => (
  <Empty icon="data" title={!whole ? "Nothing found so far" : narrow ? "No key matches" : "This database is empty"}>
    {whole && !narrow ? "Write the first key here, or with any client." : undefined}
  </Empty>
);
