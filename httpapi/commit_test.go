package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// acl runs a command with the Standard token of default.
func (m *mail) acl(line string) string {
	m.Helper()
	status, text := m.command(strings.Fields(line)...)
	if status != 200 {
		m.Fatalf("%s: status %d, %s", line, status, text)
	}
	result, _ := m.object(text)["result"].(string)
	return result
}

// TestNobodyLendsRights: whoever publishes or triggers names only a user whose rights it has, by every way in.
func TestNobodyLendsRights(t *testing.T) {
	m := startMail(t)
	m.acl("ACL SETUSER shop on >shop-password ~shop:* +@all -acl")
	m.acl("ACL SETUSER clerk on >clerk-password ~* +@messages")
	shop, clerk := m.acl("ACL RESTTOKEN shop shop-password"), m.acl("ACL RESTTOKEN clerk clerk-password")
	const to = "http://sink.example/x"
	run := func(name string) string {
		return fmt.Sprintf(`"Upstash-Workflow-Init":"true","Upstash-Workflow-RunId":%q,"Upstash-Workflow-Url":"http://app.example/f"`, name)
	}
	ways := map[string]func(user, token string) (int, string){
		"publish": func(user, token string) (int, string) {
			return m.do("POST", "/v2/publish/"+to, "x", "Svc-Commit-As", user, "Svc-Commit-Token", token)
		},
		"enqueue": func(user, token string) (int, string) {
			return m.do("POST", "/v2/enqueue/q/"+to, "x", "Upstash-Commit-As", user, "Upstash-Commit-Token", token)
		},
		"query": func(user, token string) (int, string) {
			return m.do("POST", "/v2/publish/"+to+"?svc-commit-as="+user+"&svc-commit-token="+token, "x")
		},
		"schedule": func(user, token string) (int, string) {
			return m.do("POST", "/v2/schedules/"+to, "x", "Svc-Cron", "* * * * *", "Svc-Commit-As", user, "Svc-Commit-Token", token)
		},
		"batch": func(user, token string) (int, string) {
			return m.do("POST", "/v2/batch", fmt.Sprintf(`[{"destination":%q,"headers":{"Svc-Commit-As":%q,"Svc-Commit-Token":%q}}]`, to, user, token))
		},
		"trigger": func(user, token string) (int, string) {
			return m.do("POST", "/v2/trigger/http://app.example/f", "x", "Svc-Commit-As", user, "Svc-Commit-Token", token)
		},
		"batch of triggers": func(user, token string) (int, string) {
			return m.do("POST", "/v2/batch/trigger", fmt.Sprintf(`[{"destination":"http://app.example/f","headers":{"Svc-Commit-As":%q,"Svc-Commit-Token":%q}}]`, user, token))
		},
		"an SDK's trigger": func(user, token string) (int, string) {
			return m.do("POST", "/v2/batch", fmt.Sprintf(`[{"destination":"http://app.example/f","headers":{%s,"Upstash-Forward-Upstash-Commit-As":%q,"Upstash-Forward-Upstash-Commit-Token":%q}}]`,
				run("wfr_"+user+token), user, token))
		},
	}
	for name, ask := range ways {
		for _, c := range []struct {
			user, token string
			good        bool
		}{
			{"shop", "", false}, {"shop", shop, true}, {"shop", clerk, false}, {"shop", "wrong", false}, {"shop", httpapitest.Token, true}, {"shop", httpapitest.AdminToken, true},
			{"shop", httpapitest.ReadOnlyToken, false}, {"default", shop, false}, {"default", clerk, false}, {"default", httpapitest.Token, true}, {"nobody", httpapitest.Token, false},
		} {
			status, text := ask(c.user, c.token)
			if good := status/100 == 2; good != c.good || !good && status != 403 && status != 400 {
				t.Errorf("%s for %s with %q: status %d, %s", name, c.user, c.token, status, text)
			}
		}
	}
}

// TestBatchAsksOnce: a batch whose items all name the same user asks the state once.
func TestBatchAsksOnce(t *testing.T) {
	g := newGateway(t, func(o *httpapi.Options) { o.Messages = &messages.Parser{Prefixes: httpapitest.Prefixes()} })
	for _, path := range []string{"/v2/batch", "/v2/batch/trigger"} {
		item := `{"destination":"http://app.example/x","headers":{"Svc-Commit-As":"default","Svc-Commit-Token":"` + httpapitest.Token + `"}}`
		asked := func(items int) int64 {
			_, before := g.engine.Calls()
			a := g.ask(t, "POST", path, "["+strings.TrimSuffix(strings.Repeat(item+",", items), ",")+"]", "Authorization: Bearer "+httpapitest.MessagesToken)
			if a.status/100 != 2 {
				t.Fatalf("%s: status %d, %.200s", path, a.status, a.body)
			}
			_, after := g.engine.Calls()
			return after - before
		}
		if one, many := asked(1), asked(400); many > one {
			t.Errorf("%s: %d reads for one item, %d for 400", path, one, many)
		}
	}
}

// A user of a database acts there and nowhere else.
func TestCommitsStayInTheirDatabase(t *testing.T) {
	m := startMail(t)
	const own = "token-of-the-shop"
	made := fsm.DatabaseTokens{Name: "shop", Standard: acl.DigestOf(own), ReadOnly: acl.DigestOf("read-only-token-of-the-shop")}
	if _, err := fsm.Do(t.Context(), m.nodes.Nodes[0], fsm.CreateDatabase, made); err != nil {
		t.Fatal(err)
	}
	m.token = own
	for _, c := range []struct {
		token  string
		status int
	}{{"", 200}, {own, 200}, {httpapitest.Token, 403}, {httpapitest.AdminToken, 200}} {
		m.want(c.status, "", "POST", "/v2/publish/http://sink.example/x", "x", "Svc-Commit-As", "default", "Svc-Commit-Token", c.token)
	}
	m.token = httpapitest.MessagesToken
	m.want(403, "", "POST", "/v2/publish/http://sink.example/x", "x", "Svc-Commit-As", "default", "Svc-Commit-Token", own)
}

// TestCommitTokensGoNoFurther: what an SDK forwards with a trigger, to the endpoint and to the failure function, has no token and
// names no user.
func TestCommitTokensGoNoFurther(t *testing.T) {
	m := startMail(t)
	const to = "http://app.example/f"
	forwarded := func(before string) (list []string) {
		for _, name := range []string{"Upstash-Commit-As", "Svc-Commit-Token", "X-Own"} {
			value := map[string]string{"Upstash-Commit-As": "default", "Svc-Commit-Token": httpapitest.Token, "X-Own": "own"}[name]
			list = append(list, before+"-Forward-"+name, value)
		}
		return list
	}
	header := slices.Concat(forwarded("Upstash"), forwarded("Upstash-Failure-Callback"), forwarded("Upstash-Callback"),
		[]string{"Upstash-Failure-Callback", to, "Upstash-Callback", to, "Upstash-Delay", "1h"})
	m.want(200, "", "POST", "/v2/publish/"+to, "x", header...)
	m.want(200, "", "POST", "/v2/trigger/"+to, "x", append(header, "Upstash-Workflow-RunId", "r")...)
	_, err := m.nodes.Nodes[0].Read(t.Context(), fsm.Reading{}, func(v *fsm.View) {
		all := []*queue.Options{&v.Workflows().Find("r", 0).Options}
		events, _, _ := v.Messages().Events(&queue.Filter{}, queue.Page{Limit: 10})
		for i := range events {
			all = append(all, &events[i].Content.Options)
		}
		if len(all) < 2 {
			t.Fatalf("%d messages and runs", len(all))
		}
		for _, o := range all {
			for _, part := range []*queue.Options{o, optionsOf(o.Callback), optionsOf(o.Failure)} {
				if text := fmt.Sprintf("%+v", part.Header); strings.Contains(strings.ToLower(text), "commit") || strings.Contains(text, httpapitest.Token) {
					t.Errorf("kept: %s", text)
				}
			}
			if o.CommitAs != "default" || queue.Value(o.Header, "X-Own") != "own" {
				t.Errorf("acts for %q, forwards %+v", o.CommitAs, o.Header)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func optionsOf(c *queue.Callback) *queue.Options {
	if c == nil {
		return &queue.Options{}
	}
	return &c.Options
}
