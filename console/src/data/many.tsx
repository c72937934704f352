// What looks at all keys that match: deleting them, finding the biggest.
import { useEffect, useState } from "preact/hooks";
import { database, list, num, pipeline, run, show, str, strs } from "../api";
import { bytes, count, things } from "../format";
import { path } from "../router";
import { Dialog, sure } from "../ui/dialogs";
import { A, Note, Table } from "../ui/layout";
import { toast } from "../ui/toasts";
import { keyQuery } from "./tree";

/** every scans all keys that match, until each returns false. */
async function every(match: string, each: (keys: string[], all: number) => Promise<unknown>) {
  let cursor = "0",
    all = 0;
  do {
    const [next, keys] = list(await run("SCAN", cursor, "MATCH", match, "COUNT", "1000"));
    cursor = str(next);
    const found = strs(keys);
    all += found.length;
    if ((await each(found, all)) === false) return;
  } while (cursor !== "0");
}

export async function deleteMany(match: string, name: string, done: () => void) {
  let all = 0;
  toast("Counting the keys that match");
  try {
    await every(match, async (k) => {
      all += k.length;
    });
  } catch (e) {
    return toast((e as Error).message, "bad");
  }
  sure({
    title: `Delete ${things(all, "key")}`,
    name,
    verb: `Delete ${things(all, "key")}`,
    done: "Deleted",
    text: (
      <p>
        All keys of database {database.value} that match{" "}
        <code>
          <bdi>{show(match)}</bdi>
        </code>{" "}
        are deleted: {count(all)} at this moment. Keys that are written meanwhile may be among them.
      </p>
    ),
    go: async () => {
      await every(match, async (k) => {
        if (k.length) await run("UNLINK", ...k);
      });
      done();
    },
  });
}

export function Biggest({ close, match }: { close: () => void; match: string }) {
  const [top, put] = useState<[string, number][]>([]),
    [seen, see] = useState(0),
    [busy, wait] = useState(true),
    [error, fail] = useState("");
  useEffect(() => {
    let on = true,
      best: [string, number][] = [];
    every(match, async (keys, all) => {
      const sizes = await pipeline(keys.map((k) => ["MEMORY", "USAGE", k]));
      best = [...best, ...keys.map((k, i) => [k, num(sizes[i])] as [string, number])]
        .sort((a, b) => b[1] - a[1])
        .slice(0, 25);
      if (!on) return false;
      put(best);
      see(all);
    })
      .catch((e) => fail(e.message))
      .finally(() => on && wait(false));
    return () => {
      on = false;
    };
  }, []);
  return (
    <Dialog title="Biggest keys" close={close} wide>
      <p class="dim" role="status">
        {busy ? "Looking: " : "All looked at: "}
        {things(seen, "key")}
        {match !== "*" && (
          <>
            {" "}
            that match <bdi>{show(match)}</bdi>
          </>
        )}
      </p>
      {error && <Note kind="bad">{error}</Note>}
      <Table
        label="Biggest keys"
        rows={top}
        id={(r) => r[0]}
        columns={[
          {
            name: "Key",
            of: (r) => (
              <A to={path.value} q={keyQuery(r[0])} onClick={close}>
                <bdi>{show(r[0]).slice(0, 200)}</bdi>
              </A>
            ),
          },
          { name: "Memory", class: "num", of: (r) => bytes(r[1]) },
        ]}
      />
    </Dialog>
  );
}
