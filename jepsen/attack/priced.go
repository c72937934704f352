package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// ownLimit is the memory limit of the attacker's database: half of the cluster's, as --tenant-memory-percent has it.
const ownLimit = MaxMemory / 2

// longestAnswer bounds, on a busy machine, a request within its budget or refused because of it.
const longestAnswer = 10 * time.Second

// Priced are attacks by requests that are small, or within every configured limit, and whose work or memory was counted
// nowhere. None costs a node more than twice the memory limit of the attacker's database.
func Priced() (list []Attack) {
	for _, p := range priced {
		list = append(list, Attack{
			Name: p.name, About: p.about, Once: true,
			Before: func(ctx context.Context, t *Target) error {
				if err := t.renew(ctx); err != nil || p.before == nil {
					return err
				}
				return p.before(ctx, t)
			},
			Try: func(ctx context.Context, t *Target) (string, error) {
				end := t.peaks()
				outcome, err := p.try(ctx, t)
				grown, lost := end()
				if grown > 2*ownLimit {
					err = errors.Join(err, fmt.Errorf("a node grew by %s, and the database may have %s", mebibytes(grown), mebibytes(ownLimit)))
				}
				return fmt.Sprintf("%s; a node grew by %s", outcome, mebibytes(grown)), errors.Join(err, lost)
			},
			After: restarts(1),
		})
	}
	return list
}

// pricedAttack is an attack with one priced request.
type pricedAttack struct {
	name, about string
	before      func(ctx context.Context, t *Target) error
	try         func(ctx context.Context, t *Target) (string, error)
}

// answered sends requests, one after the other, and has each answered in time, in one of some ways.
func answered(statuses []int, requests ...hogRequest) func(context.Context, *Target) (string, error) {
	return func(ctx context.Context, t *Target) (string, error) {
		slowest, seen := time.Duration(0), []string{}
		for _, q := range requests {
			began := time.Now()
			r, took := t.do(ctx, q), time.Duration(0)
			if took = time.Since(began); took > slowest {
				slowest = took
			}
			known := false
			for _, s := range statuses {
				known = known || r.status == s
			}
			if r.err != nil || !known || took > longestAnswer {
				return "", fmt.Errorf("after %v: %s", took.Round(time.Millisecond), r)
			}
			seen = append(seen, fmt.Sprint(r.status))
		}
		return fmt.Sprintf("answered %s, the slowest after %v", strings.Join(seen, ", "), slowest.Round(time.Millisecond)), nil
	}
}

// do sends a request of the attacker.
func (t *Target) do(ctx context.Context, q hogRequest) response {
	if q.method == "" {
		q.method = http.MethodPost
	}
	return t.send(ctx, t.client, 0, q.method, "/db/"+Attacker+q.path, t.AttackerToken, q.header, []byte(q.body))
}

// endpoints is a request that adds some to a group, or with DELETE removes them.
func endpoints(method string, from, n int) hogRequest {
	return hogRequest{method: method, path: "/v2/topics/g/endpoints",
		body: `{"endpoints":[` + join(n, func(i int) string { return fmt.Sprintf(`{"name":"e%d","url":"%s%d"}`, from+i, nowhere, from+i) }) + "]}"}
}

// later waits, as long as ticks and index work take effect.
func later(d time.Duration) func(context.Context, *Target) (string, error) {
	return func(ctx context.Context, _ *Target) (string, error) { return "", pause(ctx, d) }
}

// inTurn tries parts one after the other.
func inTurn(parts ...func(context.Context, *Target) (string, error)) func(context.Context, *Target) (string, error) {
	return func(ctx context.Context, t *Target) (string, error) {
		var all []string
		for _, part := range parts {
			outcome, err := part(ctx, t)
			if outcome != "" {
				all = append(all, outcome)
			}
			if err != nil {
				return strings.Join(all, "; "), err
			}
		}
		return strings.Join(all, "; "), nil
	}
}

// halfCommands opens connections that each send most of a SET of 10 MB or wait for 30,000 keys, and holds them for a while.
func halfCommands(ctx context.Context, t *Target) (string, error) {
	const connections, announced = 100, 10_000_000
	refused, wait := 0, []string{"BLPOP"}
	for i := range 30_000 {
		wait = append(wait, fmt.Sprint("nothing", i))
	}
	waits := respCommand(append(wait, "0")...)
	for i := range 2 * connections {
		c, err := t.dialRESP(0)
		if err != nil {
			return "", err
		}
		defer c.Close()
		if line, err := c.first("AUTH", Attacker+"/default", t.AttackerToken); err != nil || line != "+OK\r\n" {
			return "", fmt.Errorf("AUTH: %q, %v", line, err)
		}
		if i%2 == 1 {
			if _, err := c.Write(waits); err != nil {
				refused++
			}
			continue
		}
		if _, err := c.Write(append(fmt.Appendf(nil, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n", announced), bytes.Repeat([]byte("x"), announced-10)...)); err != nil {
			refused++ // the server has ended the connection
		}
	}
	return fmt.Sprintf("%d connections, %d of them ended", 2*connections, refused), pause(ctx, 3*time.Second)
}

// secretsInLogs publishes to destinations with credentials, which are refused, and reads what the nodes have logged.
func secretsInLogs(ctx context.Context, t *Target) (string, error) {
	const secret = "topsecret-of-a-destination"
	for _, q := range []hogRequest{
		{path: "/v2/publish/https://user:" + secret + "@example.com:0/", body: "x"},
		{path: "/v2/publish/ftp://user:" + secret + "@example.com/", body: "x"},
		{path: "/v2/schedules/https://user:" + secret + "@example.com/?x", body: "x"},
		{method: http.MethodGet, path: "/v2/nothing/https://user:" + secret + "@example.com/"},
	} {
		t.do(ctx, q)
	}
	for _, n := range t.Nodes {
		text, err := os.ReadFile(n.LogPath)
		if err != nil {
			return "", err
		}
		if bytes.Contains(text, []byte(secret)) {
			return "", fmt.Errorf("%s has logged the credentials of a destination", n.ID)
		}
	}
	return "no node has logged them", nil
}

// links signs in to the console and asks it as a link would: by GET and POST, with the cookie, and without the header of its pages.
func links(ctx context.Context, t *Target) (string, error) {
	page := http.Header{"Content-Type": {"application/json"}, "Sec-Fetch-Site": {"same-origin"}, "X-Console": {"1"}}
	r := t.send(ctx, t.client, 0, http.MethodPost, "/console/session", "", page, fmt.Appendf(nil, `{"token":%q}`, testcluster.AdminToken))
	if r.err != nil || r.status >= 400 || r.header.Get("Set-Cookie") == "" {
		return "", fmt.Errorf("attack: sign in to the console: %s", r)
	}
	cookie, _, _ := strings.Cut(r.header.Get("Set-Cookie"), ";")
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		link := http.Header{"Cookie": {cookie}, "Sec-Fetch-Site": {"none"}}
		if r := t.send(ctx, t.client, 0, method, "/console/api/acl/setuser/planted/on/nopass/+@all", "", link, nil); r.err != nil || r.status < 400 {
			return "", fmt.Errorf("%s of a link: %s", method, r)
		}
	}
	return "refused", nil
}
