// Strings, in the format that they are likely to have.
import { useState } from "preact/hooks";
import { enc, num, pipeline, run, str, utf8 } from "../api";
import { CodeEditor } from "../code/editor";
import { jsonProblem } from "../code/problem";
import { things } from "../format";
import { Value } from "../formats/value";
import { Area, Button, Field } from "../ui/controls";
import { Note } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { act } from "../ui/toasts";
import { Bits } from "./bits";
import type { Props } from "./rows";

const shown = 256 * 1024;

export function StringEditor({ name, changed }: Props) {
  const [text, edit] = useState<string | null>(null);
  const value = useLoad(async () => {
    const [length, part] = await pipeline([
      ["STRLEN", name],
      ["GETRANGE", name, "0", String(shown - 1)],
    ]);
    const hll = str(part).startsWith("HYLL") ? num((await pipeline([["PFCOUNT", name]]))[0]) : undefined;
    return { length: num(length), part: str(part), hll };
  }, [name]);
  const save = async (t: string) => {
    if (!(await act("Saved", () => run("SET", name, enc(t), "XX", "KEEPTTL")))) return;
    edit(null);
    await value.again();
    changed();
  };
  return (
    <Loaded of={value}>
      {(v) => {
        const whole = v.part.length === v.length,
          asText = utf8(v.part);
        if (text !== null)
          return (
            <Edit first={asText ?? ""} text={text} edit={edit} save={() => save(text)} cancel={() => edit(null)} />
          );
        return (
          <>
            {v.hll !== undefined && <Note>A HyperLogLog that counts about {things(v.hll, "element")}.</Note>}
            <Value of={v.part} size={v.length} label="Value" />
            <div class="acts">
              {whole && asText !== null && (
                <Button icon="edit" onClick={() => edit(asText)}>
                  Edit
                </Button>
              )}
            </div>
            <Bits name={name} part={v.part} changed={value.again} />
          </>
        );
      }}
    </Loaded>
  );
}

type EditProps = {
  first: string; // as it was
  text: string;
  edit: (text: string) => void;
  save: () => void;
  cancel: () => void;
};
/** Edit edits a text: JSON in an editor that knows it, and says so before what was JSON is none any more. */
function Edit({ first, text, edit, save, cancel }: EditProps) {
  const isJson = /^\s*[{[]/.test(first) && !jsonProblem(first);
  const problem = isJson ? jsonProblem(text) : "";
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        save();
      }}
    >
      {isJson ? (
        <CodeEditor label="Value" language="json" text={text} onText={edit} />
      ) : (
        <Field label="Value">
          <Area value={text} onText={edit} rows={14} />
        </Field>
      )}
      {problem && <Note kind="warn">It was JSON and is none now: {problem}. It can be saved all the same.</Note>}
      <div class="acts">
        <Button type="submit" kind="main">
          Save
        </Button>
        <Button onClick={cancel}>Cancel</Button>
      </div>
    </form>
  );
}
