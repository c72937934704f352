// ACL users and what their rules mean.
import { useState } from "preact/hooks";
import { database, enc, run, show, str, strs } from "../api";
import { Button, Field, Text } from "../ui/controls";
import { FormDialog, showOnce, sure } from "../ui/dialogs";
import { Badge, Card, Empty } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";

const words = (line: string) => {
  return [...(line.match(/\([^)]*\)|\S+/g) ?? [])] as string[];
};
/** explain says in words what a rule does. */
export function explain(rule: string): string {
  if (/^\(/.test(rule)) return `or, as one more way: ${words(rule.slice(1, -1)).map(explain).join("; ")}`;
  const fixed: Record<string, string> = {
    on: "may sign in",
    off: "may not sign in",
    nopass: "any password will do",
    resetpass: "has no password",
    allkeys: "every key",
    "~*": "every key",
    allchannels: "every channel",
    "&*": "every channel",
    allcommands: "every command",
    "+@all": "every command",
    nocommands: "no command",
    "-@all": "no command",
    resetkeys: "no key",
    resetchannels: "no channel",
    reset: "as a new user",
    clearselectors: "no selectors",
    "sanitize-payload": "payloads are checked",
    "skip-sanitize-payload": "payloads are not checked",
  };
  if (fixed[rule]) return fixed[rule];
  const rest = rule.slice(1);
  if (rule.startsWith("%RW~")) return `reads and writes keys like ${rule.slice(4)}`;
  if (rule.startsWith("%R~")) return `reads keys like ${rule.slice(3)}`;
  if (rule.startsWith("%W~")) return `writes keys like ${rule.slice(3)}`;
  if (rule.startsWith("~")) return `reads and writes keys like ${rest}`;
  if (rule.startsWith("&")) return `uses channels like ${rest}`;
  if (rule.startsWith("+@")) return `may use commands of the category ${rule.slice(2)}`;
  if (rule.startsWith("-@")) return `may not use commands of the category ${rule.slice(2)}`;
  if (rule.startsWith("+")) return `may use ${rest.toUpperCase().replace("|", " ")}`;
  if (rule.startsWith("-")) return `may not use ${rest.toUpperCase().replace("|", " ")}`;
  if (/^[>#]/.test(rule)) return "has a password";
  if (/^[<!]/.test(rule)) return "loses a password";
  return "is no rule";
}

export function Users() {
  const users = useLoad(
    async () =>
      strs(await run("ACL", "LIST")).map((l) => {
        const [, name, ...rules] = show(l).split(" ");
        return { name, rules: words(rules.join(" ")) };
      }),
    [database.value],
  );
  const [edit, open] = useState<{ name: string; rules: string } | null>(null);
  const builtin = (n: string) => n === "default" || n === "default_ro";
  return (
    <Loaded
      of={users}
      isEmpty={(d) => !d.length}
      empty={
        <Card>
          <Empty
            icon="access"
            title="There are no users"
            act={
              <Button kind="main" onClick={() => open({ name: "", rules: "on ~app:* +@read +@write -@dangerous" })}>
                Create the first user
              </Button>
            }
          >
            A user has a password, and may use the commands, keys and channels that its rules name.
          </Empty>
        </Card>
      }
    >
      {(d) => (
        <Card
          class="flush"
          title={`Users of ${database.value}`}
          acts={
            <Button
              kind="main"
              icon="plus"
              onClick={() => open({ name: "", rules: "on ~app:* +@read +@write -@dangerous" })}
            >
              New user
            </Button>
          }
        >
          <Table
            label="Users"
            rows={d}
            id={(u) => u.name}
            columns={[
              {
                name: "User",
                of: (u) => (
                  <b>
                    <bdi>{u.name}</bdi>
                  </b>
                ),
              },
              {
                name: "State",
                of: (u) => (
                  <Badge tone={u.rules.includes("on") ? "good" : "warn"}>{u.rules.includes("on") ? "on" : "off"}</Badge>
                ),
              },
              {
                name: "Rules",
                class: "main-cell",
                of: (u) => (
                  <span class="mono dim">
                    <bdi>
                      {u.rules
                        .filter((r) => !/^#/.test(r) && r !== "on" && r !== "off")
                        .join(" ")
                        .slice(0, 300)}
                    </bdi>
                  </span>
                ),
              },
              {
                name: "-Actions",
                class: "acts-cell",
                of: (u) =>
                  !builtin(u.name) && (
                    <>
                      <Button
                        kind="quiet"
                        onClick={() => open({ name: u.name, rules: u.rules.filter((r) => !/^#/.test(r)).join(" ") })}
                      >
                        Edit
                      </Button>
                      <Button
                        kind="quiet"
                        onClick={() =>
                          sure({
                            title: `Make a token for ${u.name}`,
                            verb: "Create it",
                            done: "Created",
                            text: <p>A new token is added to the passwords of {u.name}. It is shown once.</p>,
                            go: async () => {
                              const token = str(await run("ACL", "GENTOKEN", enc(u.name)));
                              await run("ACL", "SETUSER", enc(u.name), `>${token}`);
                              showOnce({
                                title: `Token of ${u.name}`,
                                note: "It is shown this once.",
                                rows: [["Token", token]],
                                verb: "I saved it",
                              });
                            },
                          })
                        }
                      >
                        Token
                      </Button>
                      <Button
                        kind="quiet"
                        class="bad"
                        onClick={() =>
                          sure({
                            title: "Delete this user",
                            name: u.name,
                            verb: "Delete",
                            done: "Deleted",
                            text: <p>{u.name} is signed out everywhere at once, this console included.</p>,
                            go: () => run("ACL", "DELUSER", enc(u.name)).then(users.again),
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
          {edit && <UserForm u={edit} close={() => open(null)} done={users.again} />}
        </Card>
      )}
    </Loaded>
  );
}

function UserForm({ u, close, done }: { u: { name: string; rules: string }; close: () => void; done: () => void }) {
  const [name, call] = useState(u.name),
    [rules, put] = useState(u.rules),
    [password, secret] = useState(""),
    [tries, attempt] = useState(""),
    [dry, say] = useState("");
  const all = words(rules);
  return (
    <FormDialog
      title={u.name ? `Edit ${u.name}` : "New user"}
      close={close}
      wide
      verb="Save the user"
      said="Written"
      go={() =>
        run(
          "ACL",
          "SETUSER",
          enc(name),
          ...(u.name ? ["resetkeys", "resetchannels", "clearselectors", "nocommands"] : []),
          ...all.map(enc),
          ...(password ? [enc(`>${password}`)] : []),
        )
      }
      then={done}
    >
      <div class="form">
        <Field label="Name" wide>
          <Text value={name} onText={call} required readOnly={!!u.name} />
        </Field>
        <Field label="Rules" help="In order; the last one that fits wins" wide>
          <Text value={rules} onText={put} class="mono" />
        </Field>
        <div class="wide">
          <h3>What the rules mean</h3>
          <ul>
            {all.map((r, i) => (
              <li key={i}>
                <code>
                  <bdi>{r}</bdi>
                </code>{" "}
                <span class="dim">
                  <bdi>{explain(r)}</bdi>
                </span>
              </li>
            ))}
          </ul>
        </div>
        <Field label={u.name ? "One more password" : "Password"} help={u.name ? "Empty: as it is" : undefined} wide>
          <Text type="password" autoComplete="new-password" value={password} onText={secret} />
        </Field>
        {u.name && (
          <div class="filters wide">
            <Field label="Would this command be allowed?">
              <Text value={tries} onText={attempt} placeholder="GET app:1" />
            </Field>
            <Button
              onClick={async () => {
                try {
                  say(show(str(await run("ACL", "DRYRUN", enc(name), ...tries.split(/\s+/).filter(Boolean).map(enc)))));
                } catch (x) {
                  say((x as Error).message);
                }
              }}
            >
              Try
            </Button>
            <span>{dry}</span>
          </div>
        )}
      </div>
    </FormDialog>
  );
}
