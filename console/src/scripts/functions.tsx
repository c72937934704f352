// Libraries of functions: what is loaded, and their code.
import { useState } from "preact/hooks";
import { type ApiError, database, enc, list, plain, type Reply, run, show, str, strs, utf8 } from "../api";
import { CodeEditor } from "../code/editor";
import { Button } from "../ui/controls";
import { Dialog, sure } from "../ui/dialogs";
import { Card, Empty, Note } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import { toast } from "../ui/toasts";

type Library = { name: string; engine: string; functions: string[]; code: string };

const map = (r: Reply) => {
  const v = list(r),
    out: Record<string, Reply> = {};
  for (let i = 0; i + 1 < v.length; i += 2) out[str(v[i])] = v[i + 1];
  return out;
};
const library = (r: Reply): Library => {
  const m = map(r);
  return {
    name: str(m.library_name),
    engine: str(m.engine),
    functions: list(m.functions).map((f) => {
      const of = map(f),
        flags = strs(of.flags);
      return str(of.name) + (flags.length ? ` (${flags.join(", ")})` : "");
    }),
    code: str(m.library_code),
  };
};

const example = `#!lua name=mylib

redis.register_function("my_get", function(keys, args)
  return redis.call("GET", keys[1])
end)
`;

export function Functions() {
  const all = useLoad(async () => list(await run("FUNCTION", "LIST", "WITHCODE")).map(library), [database.value]);
  const [open, edit] = useState<{ text: string; name: string } | null>(null);
  const add = (
    <Button kind="main" icon="plus" onClick={() => edit({ text: example, name: "" })}>
      New library
    </Button>
  );
  return (
    <>
      <Loaded
        of={all}
        isEmpty={(d) => !d.length}
        empty={
          <Card>
            <Empty icon="code" title="No library of functions" act={add}>
              A library keeps Lua functions in the database. FCALL calls one of them.
            </Empty>
          </Card>
        }
      >
        {(d) => (
          <Card class="flush" title="Libraries" acts={add}>
            <Table
              label="Libraries"
              rows={d}
              id={(l) => l.name}
              columns={[
                { name: "Library", class: "main-cell", of: (l) => <bdi class="mono">{show(l.name)}</bdi> },
                { name: "Functions", of: (l) => <bdi>{l.functions.map(show).join(", ")}</bdi> },
                {
                  name: "-Actions",
                  class: "acts-cell",
                  of: (l) => (
                    <>
                      <Button
                        kind="quiet"
                        disabled={utf8(l.code) === null}
                        onClick={() => edit({ text: utf8(l.code) ?? "", name: l.name })}
                      >
                        Edit
                      </Button>
                      <Button
                        kind="quiet"
                        class="bad"
                        onClick={() =>
                          sure({
                            title: "Delete the library",
                            text: <p>Its functions can't be called any more, on all nodes.</p>,
                            verb: "Delete",
                            done: "Deleted",
                            go: () => run("FUNCTION", "DELETE", l.name).then(all.again),
                          })
                        }
                      >
                        Delete
                      </Button>
                    </>
                  ),
                },
              ]}
            />
          </Card>
        )}
      </Loaded>
      {open && <Edit first={open.text} name={open.name} close={() => edit(null)} done={all.again} />}
    </>
  );
}

type EditProps = { first: string; name: string; close: () => void; done: () => void };
/** Edit replaces a library, or makes one. */
function Edit({ first, name, close, done }: EditProps) {
  const [text, put] = useState(first),
    [error, fail] = useState("");
  return (
    <Dialog title={name ? show(name) : "New library"} close={close} wide>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          try {
            await run("FUNCTION", "LOAD", ...(name ? ["REPLACE"] : []), enc(text));
            toast("Saved");
            close();
            done();
          } catch (x) {
            fail((x as ApiError).message);
          }
        }}
      >
        <CodeEditor label="Code" language="lua" text={text} onText={put} />
        {error && <Note kind="bad">{plain(error)}</Note>}
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Save
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
