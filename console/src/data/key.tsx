// One key: its type, expiry and size, with its editor.
import { useState } from "preact/hooks";
import { ApiError, database, enc, num, pipeline, type Reply, run, show, str, utf8 } from "../api";
import { Editor } from "../editors/editor";
import { bytes, figure } from "../format";
import { Button, Field, IconButton, Text } from "../ui/controls";
import { Dialog, sure } from "../ui/dialogs";
import { Badge, Card, Empty } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { act, toast } from "../ui/toasts";
import { typeName } from "./types";

/** KeyInfo has the facts of a key. Those that the credential may not ask for are missing. */
export type KeyInfo = { type: string; ttl?: number; size?: number; encoding: string };

const figureOf = (r: Reply) => (r.t === "int" ? num(r) : undefined);

export function Key({
  name,
  close,
  gone,
  renamed,
}: {
  name: string;
  close: () => void;
  gone: () => void;
  renamed: (k: string) => void;
}) {
  const info = useLoad<KeyInfo | null>(async () => {
    const [type, ttl, size, encoding] = await pipeline([
      ["TYPE", name],
      ["PTTL", name],
      ["MEMORY", "USAGE", name],
      ["OBJECT", "ENCODING", name],
    ]);
    if (type.t === "err") throw new ApiError(400, type.v);
    return str(type) === "none"
      ? null
      : {
          type: str(type),
          ttl: figureOf(ttl),
          size: figureOf(size),
          encoding: encoding.t === "err" ? "" : str(encoding),
        };
  }, [name]);
  const [ask, open] = useState<"" | "rename" | "expire">("");
  return (
    <Card>
      <Loaded
        of={info}
        isEmpty={(d) => d === null}
        empty={
          <Empty icon="data" title="Key not found">
            <bdi>{show(name)}</bdi> was deleted, or has expired.
          </Empty>
        }
      >
        {(d) =>
          d && (
            <>
              <header class="page-head">
                <div>
                  <div class="key-name">
                    <bdi>{show(name)}</bdi>
                  </div>
                  <p>
                    <Badge tone="info">{typeName(d.type)}</Badge> {facts(d)}
                  </p>
                </div>
                <div class="acts">
                  <Button kind="quiet" icon="refresh" onClick={info.again}>
                    Reload
                  </Button>
                  <Button kind="quiet" onClick={() => open("expire")}>
                    Expiry
                  </Button>
                  <Button kind="quiet" onClick={() => open("rename")}>
                    Rename
                  </Button>
                  <Button
                    kind="quiet"
                    class="bad"
                    icon="trash"
                    onClick={() =>
                      sure({
                        title: "Delete this key",
                        name,
                        text: (
                          <p>
                            The key and its value ({typeName(d.type)}
                            {d.size !== undefined && `, ${bytes(d.size)}`}) are deleted from {database.value} on all
                            nodes.
                          </p>
                        ),
                        verb: "Delete",
                        done: "Deleted",
                        go: () => run("UNLINK", name).then(gone),
                      })
                    }
                  >
                    Delete
                  </Button>
                  <IconButton icon="close" label="Close the key" onClick={close} />
                </div>
              </header>
              <Editor key={d.type} name={name} info={d} changed={info.again} gone={gone} />
            </>
          )
        }
      </Loaded>
      {ask === "rename" && <Rename name={name} close={() => open("")} done={renamed} />}
      {ask === "expire" && <Expire name={name} ttl={info.data?.ttl ?? -1} close={() => open("")} done={info.again} />}
    </Card>
  );
}

const facts = (d: KeyInfo) =>
  [
    d.encoding,
    d.size !== undefined && bytes(d.size),
    d.ttl !== undefined && (d.ttl < 0 ? "does not expire" : `expires in ${figure("PTTL", "ttl", d.ttl)}`),
  ]
    .filter(Boolean)
    .join(" · ");

function Rename({ name, close, done }: { name: string; close: () => void; done: (k: string) => void }) {
  const [to, put] = useState(utf8(name) ?? "");
  return (
    <Dialog title="Rename the key" close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          try {
            const r = await run("RENAMENX", name, enc(to));
            if (num(r)) {
              toast("Renamed");
              close();
              done(enc(to));
            } else toast("There is a key of that name: delete it first", "bad");
          } catch (x) {
            toast((x as Error).message, "bad");
          }
        }}
      >
        <Field label="New name" help="A key that is there already is not overwritten">
          <Text value={to} onText={put} required />
        </Field>
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Rename
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

function Expire({ name, ttl, close, done }: { name: string; ttl: number; close: () => void; done: () => void }) {
  const [secs, put] = useState(ttl > 0 ? String(Math.ceil(ttl / 1000)) : "3600");
  return (
    <Dialog title="Expiry" close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          if (await act("The expiry is set", () => run("EXPIRE", name, secs))) {
            close();
            done();
          }
        }}
      >
        <Field label="Seconds from now">
          <Text type="number" min="1" value={secs} onText={put} required />
        </Field>
        <footer>
          {ttl > 0 && (
            <Button
              onClick={async () => {
                if (await act("The key does not expire any more", () => run("PERSIST", name))) {
                  close();
                  done();
                }
              }}
            >
              Never expire
            </Button>
          )}
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Set
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
