import { useState } from "preact/hooks";
import { database, enc, json, run, show, signedIn, str, strs } from "./api";
import { type Answer, anyFigure, figure, things } from "./format";
import { query } from "./router";
import {
  Ago,
  act,
  Badge,
  Button,
  Card,
  Dialog,
  Empty,
  Facts,
  Field,
  Loaded,
  Page,
  showOnce,
  sure,
  Table,
  Tabs,
  Text,
  useLoad,
} from "./ui";

export function Access() {
  const admin = signedIn().admin,
    part = query.value.get("part") ?? (admin ? "databases" : "users");
  return (
    <Page title="Access" sub="Who may do what">
      <Tabs
        now={part}
        to={(n) => ({ part: n, db: query.value.get("db") ?? undefined })}
        of={[
          ...(admin ? ([["databases", "Databases and tokens"]] as [string, string][]) : []),
          ["users", "ACL users"],
          ...(admin ? ([["settings", "Limits and settings"]] as [string, string][]) : []),
        ]}
      />
      {part === "users" ? <Users /> : part === "settings" && admin ? <Settings /> : admin ? <Databases /> : <Users />}
    </Page>
  );
}

type Database = {
  name: string;
  path: string;
  createdAt?: string;
  keys: number;
  bytes: number;
  users: number;
};
/** NewTokens are a database with its tokens, which are known only when they are made. */
type NewTokens = Database & { token: string; readonlyToken: string };
function Databases() {
  const all = useLoad<{ databases: Database[] }>((poll) => json("/admin/databases", { poll }), [], 6000);
  const [making, make] = useState(false),
    [name, call] = useState("");
  const show = (x: NewTokens) =>
    showOnce({
      title: `Tokens of ${x.name}`,
      note: "They are shown this once. The cluster keeps their digests only.",
      rows: [
        ["Token", x.token],
        ["Read-only token", x.readonlyToken],
      ],
      verb: "I have them",
    });
  const create = () =>
    act("Created", async () => {
      const made = await json<NewTokens>("/admin/databases", { data: { name } });
      make(false);
      show(made);
      all.again();
    });
  return (
    <Loaded of={all}>
      {(d) => (
        <Card
          class="flush"
          title="Databases"
          acts={
            <Button kind="main" icon="plus" onClick={() => make(true)}>
              New database
            </Button>
          }
        >
          <Table
            label="Databases"
            rows={d.databases}
            id={(x) => x.name}
            columns={[
              { name: "Database", of: (x) => <b>{x.name}</b> },
              { name: "Path", of: (x) => <span class="mono">{x.name === "default" ? "/" : x.path}</span> },
              { name: "Keys", class: "num", of: (x) => figure("/admin/databases", "keys", x.keys) },
              { name: "Memory", class: "num", of: (x) => figure("/admin/databases", "bytes", x.bytes) },
              { name: "Users", class: "num", of: (x) => figure("/admin/databases", "users", x.users) },
              { name: "Created", of: (x) => <Ago at={x.createdAt} /> },
              {
                name: "-Acts",
                class: "acts-cell",
                of: (x) => (
                  <>
                    <Button
                      kind="quiet"
                      onClick={() =>
                        sure({
                          title: `New tokens for ${x.name}`,
                          name: x.name,
                          verb: "Draw new tokens",
                          text: (
                            <p>
                              Both tokens of {x.name} are void at once, on all nodes: every app that uses them is
                              refused until it has the new ones.
                            </p>
                          ),
                          go: async () => {
                            show(
                              await json(`/admin/databases/${encodeURIComponent(x.name)}/reset-password`, {
                                method: "POST",
                              }),
                            );
                          },
                        })
                      }
                    >
                      New tokens
                    </Button>
                    {x.name !== "default" && (
                      <Button
                        kind="quiet"
                        class="bad"
                        onClick={() =>
                          sure({
                            title: `Delete the database ${x.name}`,
                            name: x.name,
                            verb: "Delete",
                            done: "Deleted",
                            text: (
                              <p>
                                {things(x.keys, "key")} ({figure("/admin/databases", "bytes", x.bytes)}) and{" "}
                                {things(x.users, "user")} are deleted for good, on all nodes. Its tokens open nothing
                                any more.
                              </p>
                            ),
                            go: () =>
                              json(`/admin/databases/${encodeURIComponent(x.name)}`, { method: "DELETE" }).then(
                                all.again,
                              ),
                          })
                        }
                      >
                        Delete
                      </Button>
                    )}
                  </>
                ),
              },
            ]}
          />
          {making && (
            <Dialog title="New database" close={() => make(false)}>
              <form
                onSubmit={(e) => {
                  e.preventDefault();
                  create();
                }}
              >
                <Field label="Name" help="Letters, digits, hyphens and underscores">
                  <Text value={name} onText={call} required pattern="[A-Za-z0-9][A-Za-z0-9_\-]{0,63}" />
                </Field>
                <footer>
                  <Button onClick={() => make(false)}>Cancel</Button>
                  <Button type="submit" kind="main">
                    Create
                  </Button>
                </footer>
              </form>
            </Dialog>
          )}
        </Card>
      )}
    </Loaded>
  );
}

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

function Users() {
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
          <Empty icon="access" title="There are no users" />
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
                name: "-Acts",
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
                            verb: "Make it",
                            done: "Made",
                            text: <p>A new token is added to the passwords of {u.name}. It is shown once.</p>,
                            go: async () => {
                              const token = str(await run("ACL", "GENTOKEN", enc(u.name)));
                              await run("ACL", "SETUSER", enc(u.name), `>${token}`);
                              showOnce({
                                title: `Token of ${u.name}`,
                                note: "It is shown this once.",
                                rows: [["Token", token]],
                                verb: "I have it",
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
    <Dialog title={u.name ? `Edit ${u.name}` : "New user"} close={close} wide>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          if (
            await act("Written", () =>
              run(
                "ACL",
                "SETUSER",
                enc(name),
                ...(u.name ? ["resetkeys", "resetchannels", "clearselectors", "nocommands"] : []),
                ...all.map(enc),
                ...(password ? [enc(`>${password}`)] : []),
              ),
            )
          ) {
            close();
            done();
          }
        }}
      >
        <div class="form">
          <Field label="Name" wide>
            <Text value={name} onText={call} required readOnly={!!u.name} />
          </Field>
          <Field label="Rules" help="In order; the last one that fits wins" wide>
            <Text value={rules} onText={put} class="mono" />
          </Field>
          <div class="wide">
            <h3>What they mean</h3>
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
              <Field label="Would this command be open? (as written before)">
                <Text value={tries} onText={attempt} placeholder="GET app:1" />
              </Field>
              <Button
                onClick={async () => {
                  try {
                    say(
                      show(str(await run("ACL", "DRYRUN", enc(name), ...tries.split(/\s+/).filter(Boolean).map(enc)))),
                    );
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
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Write
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

function Settings() {
  return (
    <div>
      {(
        [
          ["/admin/settings", "Limits of the keyspace"],
          ["/admin/settings/messages", "Messages"],
          ["/admin/settings/workflows", "Workflows"],
        ] as const
      ).map(([path, title]) => (
        <SettingsCard key={path} path={path} title={title} />
      ))}
    </div>
  );
}

function SettingsCard({ path, title }: { path: Answer & `/admin/settings${string}`; title: string }) {
  const now = useLoad<Record<string, unknown>>(() => json(path), [path]);
  const [edit, open] = useState<Record<string, string> | null>(null);
  return (
    <Card
      title={title}
      acts={
        now.data && (
          <Button
            kind="quiet"
            icon="edit"
            onClick={() => open(Object.fromEntries(Object.entries(now.data ?? {}).map(([n, v]) => [n, String(v)])))}
          >
            Edit
          </Button>
        )
      }
    >
      <Loaded of={now}>
        {(d) => (
          <Facts
            of={Object.entries(d).map(([n, v]) => [
              n,
              typeof v === "number" ? anyFigure(path, n, v, "none") : String(v),
            ])}
          />
        )}
      </Loaded>
      {edit && (
        <Dialog title={title} close={() => open(null)} wide>
          <form
            onSubmit={async (e) => {
              e.preventDefault();
              const was = now.data ?? {},
                data = Object.fromEntries(
                  Object.entries(edit)
                    .filter(([n, v]) => v !== String(was[n]))
                    .map(([n, v]) => [n, typeof was[n] === "number" ? Number(v) : v]),
                );
              if (await act("Changed", () => json(path, { data }))) {
                open(null);
                now.again();
              }
            }}
          >
            <p class="dim">
              Bytes, milliseconds, percent and numbers, by their names (0: none). They hold on all nodes at once.
            </p>
            <br />
            <div class="form">
              {Object.entries(edit).map(([n, v]) => (
                <Field key={n} label={n}>
                  <Text value={v} onText={(t) => open({ ...edit, [n]: t })} />
                </Field>
              ))}
            </div>
            <footer>
              <Button onClick={() => open(null)}>Cancel</Button>
              <Button type="submit" kind="main">
                Change
              </Button>
            </footer>
          </form>
        </Dialog>
      )}
    </Card>
  );
}
