package attack

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// defaultToken is the Standard token of the database default.
const defaultToken = testcluster.Token

// requestIDs is the number of request ids that each try leaves in the shared table.
const requestIDs = 200

// walls tries to get at another database as its neighbour's owner.
func walls(ctx context.Context, t *Target) (string, error) {
	for _, one := range []func(context.Context, *Target) error{wallsHTTP, wallsRESP, sharedTables} {
		if err := one(ctx, t); err != nil {
			return "", err
		}
	}
	return "another database's keys, messages and users stayed closed, its clients were not paused", nil
}

// closed are requests with the attacker's token that have to be refused.
var closed = []struct{ method, path, body string }{
	{"POST", "/db/" + Victim, `["GET","secret"]`},
	{"POST", "/db/" + Victim + "/pipeline", `[["GET","secret"]]`},
	{"POST", "/db/" + Victim + "/multi-exec", `[["SET","secret","x"]]`},
	{"GET", "/db/" + Victim + "/get/secret", ""},
	{"GET", "/db/" + Victim + "/v2/events", ""},
	{"GET", "/db/" + Victim + "/v2/keys", ""},
	{"POST", "/db/" + Victim + "/v2/publish/http://127.0.0.1:1/", "x"},
	{"GET", "/admin/databases", ""},
	{"GET", "/admin/databases/" + Victim + "/export", ""},
	{"GET", "/admin/settings/messages", ""},
	{"POST", "/", `["GET","secret"]`},
}

func wallsHTTP(ctx context.Context, t *Target) error {
	for _, r := range closed {
		if got := t.ask(ctx, 0, r.method, r.path, t.AttackerToken, []byte(r.body)); got.err != nil || got.status != http.StatusUnauthorized && got.status != http.StatusForbidden {
			return fmt.Errorf("%s %s with another database's token: %s", r.method, r.path, got)
		}
	}
	published := t.ask(ctx, 0, http.MethodPost, "/db/"+Victim+"/v2/publish/http://127.0.0.1:1/", t.VictimToken, []byte("of-the-victim"))
	if published.status/100 != 2 {
		return fmt.Errorf("the victim's message: %s", published)
	}
	for _, path := range []string{"/v2/events", "/v2/logs", "/v2/dlq", "/v2/queues", "/v2/schedules", "/v2/topics"} {
		got := t.ask(ctx, 0, http.MethodGet, path, t.AttackerToken, nil)
		if got.status != http.StatusOK || strings.Contains(string(got.body), "127.0.0.1:1") {
			return fmt.Errorf("GET %s with another database's token: %s", path, got)
		}
	}
	for _, args := range [][]string{{"GET", "secret"}, {"EXISTS", "secret"}, {"KEYS", "secret"}} {
		if r := t.own(ctx, args...); r.status != http.StatusOK || strings.Contains(string(r.body), "victim") || strings.Contains(string(r.body), `"secret"`) || strings.Contains(string(r.body), "1") {
			return fmt.Errorf("%s: %s", args, r)
		}
	}
	return nil
}

// wallsRESP logs in as users of the victim, one of whom has no password, by their names alone and with the attacker's
// credentials.
func wallsRESP(_ context.Context, t *Target) error {
	for _, login := range [][]string{
		{"AUTH", "open", "x"}, {"HELLO", "3", "AUTH", "open", "x"}, {"AUTH", Attacker + "/open", "x"}, {"AUTH", "default/open", "x"},
		{"AUTH", Victim + "/default", t.AttackerToken}, {"HELLO", "3", "AUTH", Victim + "/default", t.AttackerToken},
	} {
		line, err := t.once(0, login)
		if err != nil || !strings.HasPrefix(line, "-WRONGPASS") {
			return fmt.Errorf("%s %s: %q, %v", login[0], login[1], line, err)
		}
	}
	login := []string{"AUTH", Attacker + "/default", t.AttackerToken}
	for _, args := range [][]string{{"SELECT", "1"}, {"MOVE", "secret", "1"}, {"SWAPDB", "0", "1"}} {
		if line, err := t.once(0, login, args); err != nil || !strings.HasPrefix(line, "-") {
			return fmt.Errorf("%s: %q, %v", args[0], line, err)
		}
	}
	if line, err := t.once(0, login, []string{"CLIENT", "PAUSE", "200", "ALL"}); err != nil || !strings.HasPrefix(line, "+OK") {
		return fmt.Errorf("CLIENT PAUSE: %q, %v", line, err)
	}
	return nil
}

// sharedTables fills what databases share: the victim can still use it.
func sharedTables(ctx context.Context, t *Target) error {
	body, value := words([]string{"SET", "r", "v"}), words([]string{"ECHO", strings.Repeat("r", 32<<10)})
	for i := range requestIDs {
		b := body
		if i%2 == 1 {
			b = value // a long reply to remember
		}
		t.ids++
		r := t.send(ctx, t.client, 0, http.MethodPost, "/db/"+Attacker, t.AttackerToken, http.Header{"Svc-Request-Id": {fmt.Sprint("attack-", t.ids)}}, b)
		if r.err != nil {
			return r.err
		}
	}
	r := t.send(ctx, t.client, 0, http.MethodPost, "/db/"+Victim, t.VictimToken, http.Header{"Svc-Request-Id": {fmt.Sprint("victim-", t.ids)}}, words([]string{"SET", "r", "v"}))
	if r.status != http.StatusOK {
		return fmt.Errorf("a request id of the victim: %s", r)
	}
	return nil
}
