package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/internal/certs"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// The databases: the attacker owns the one, the victims are clients of the other.
const (
	Attacker = "attacker"
	Victim   = "victim"
)

// MaxMemory is the --max-memory of the cluster.
const MaxMemory = 512 << 20

// Target is the cluster under attack, and what the attackers know.
type Target struct {
	*testcluster.Cluster
	AttackerToken, AttackerReadOnly, VictimToken string
	// Secret is the cluster's secret, GossipKey the key in the arguments of its nodes. Attackers don't know them.
	Secret, GossipKey string

	client *http.Client
	// soloTime is the duration of the attacker's longest request without any other.
	soloTime time.Duration
	ids      int // request ids that were used
}

// Options returns the options of a cluster to attack: three nodes with a shared secret, RESP ports, and deliveries to loopback.
// Their garbage collector doesn't rest as it does on a machine with much memory, so that their size says what they
// need.
func Options(binary, dir string) (o testcluster.Options, secret, gossipKey string) {
	secret, gossipKey = certs.NewSecret(), "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	return testcluster.Options{
		Binary: binary, Dir: dir, RESP: true, Secret: secret, Env: []string{"GOGC=100"},
		Args: []string{"--gossip-key", gossipKey, "--egress-allow", "127.0.0.0/8", "--max-memory", strconv.Itoa(MaxMemory)},
	}, secret, gossipKey
}

// NewTarget makes the two databases and their content.
func NewTarget(ctx context.Context, c *testcluster.Cluster, secret, gossipKey string) (*Target, error) {
	t := &Target{Cluster: c, Secret: secret, GossipKey: gossipKey, client: newClient()}
	for name, tokens := range map[string][2]*string{Attacker: {&t.AttackerToken, &t.AttackerReadOnly}, Victim: {&t.VictimToken, new(string)}} {
		if err := t.create(ctx, name, tokens[0], tokens[1]); err != nil {
			return nil, err
		}
	}
	for _, args := range [][]string{{"SET", "secret", "of-the-victim"}, {"ACL", "SETUSER", "open", "on", "nopass", "+@all", "~*", "&*"}} {
		if r := t.command(ctx, 0, Victim, t.VictimToken, args...); r.status != http.StatusOK {
			return nil, fmt.Errorf("%s: %s", args, r)
		}
	}
	return t, t.fill(ctx)
}

// create makes a database and notes its tokens.
func (t *Target) create(ctx context.Context, name string, token, readOnly *string) error {
	r := t.admin(ctx, http.MethodPost, "/admin/databases", []byte(`{"name":"`+name+`"}`))
	var made struct{ Token, ReadonlyToken string }
	if err := json.Unmarshal(r.body, &made); err != nil || made.Token == "" {
		return fmt.Errorf("database %s: %s", name, r)
	}
	*token, *readOnly = made.Token, made.ReadonlyToken
	return nil
}

// response is the reply to a request.
type response struct {
	status int
	header http.Header
	body   []byte
	err    error
}

func (r response) String() string {
	if r.err != nil {
		return r.err.Error()
	}
	return fmt.Sprintf("status %d: %.300s", r.status, r.body)
}

// says reports whether the response is of a status and contains a text.
func (r response) says(status int, text string) bool {
	return r.err == nil && r.status == status && strings.Contains(string(r.body), text)
}

func newClient() *http.Client {
	return &http.Client{Timeout: 60 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16, DisableCompression: true}}
}

// send sends one request, never a second time.
func (t *Target) send(ctx context.Context, c *http.Client, node int, method, path, token string, header http.Header, body []byte) response {
	return send(ctx, c, method, t.Nodes[node].HTTP, path, token, header, body)
}

func send(ctx context.Context, c *http.Client, method, addr, path, token string, header http.Header, body []byte) (r response) {
	req, err := newRequest(ctx, method, addr, path, token, header, string(body))
	if err != nil {
		return response{err: err}
	}
	return receive(c, req)
}

// newRequest is a request that is never sent a second time.
func newRequest(ctx context.Context, method, addr, path, token string, header http.Header, body string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+addr+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.GetBody = nil
	for name, values := range header {
		req.Header[name] = values
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req, nil
}

// receive sends a request and reads what comes back.
func receive(c *http.Client, req *http.Request) (r response) {
	res, err := c.Do(req)
	if err != nil {
		return response{err: err}
	}
	defer res.Body.Close()
	r.status, r.header = res.StatusCode, res.Header
	r.body, r.err = io.ReadAll(res.Body)
	r.body = bytes.TrimSpace(r.body)
	return r
}

// ask sends a request to a node with a token.
func (t *Target) ask(ctx context.Context, node int, method, path, token string, body []byte) response {
	return t.send(ctx, t.client, node, method, path, token, nil, body)
}

func (t *Target) admin(ctx context.Context, method, path string, body []byte) response {
	return t.ask(ctx, 0, method, path, testcluster.AdminToken, body)
}

// command runs a command in a database.
func (t *Target) command(ctx context.Context, node int, db, token string, args ...string) response {
	return t.ask(ctx, node, http.MethodPost, "/db/"+db, token, words(args))
}

// own runs a command as the attacker, in the attacker's database.
func (t *Target) own(ctx context.Context, args ...string) response {
	return t.command(ctx, 0, Attacker, t.AttackerToken, args...)
}

func words(args any) []byte {
	b, err := json.Marshal(args)
	if err != nil {
		panic(err) // strings only
	}
	return b
}

// fill makes the large values of the attacker.
func (t *Target) fill(ctx context.Context) error {
	commands := [][]string{{"SETRANGE", "b", strconv.Itoa(20<<20 - 1), "x"}, {"SETRANGE", "big", strconv.Itoa(30<<20 - 1), "x"}, {"SETRANGE", "row", strconv.Itoa(8<<20 - 1), "x"}}
	for i := range 10 {
		set, zset := []string{"SADD", "set"}, []string{"ZADD", "zset"}
		for j := range 5000 {
			set, zset = append(set, fmt.Sprintf("member:%d:%d", i, j)), append(zset, strconv.Itoa(j), fmt.Sprintf("member:%d:%d", i, j))
		}
		commands = append(commands, set, zset)
	}
	for _, args := range commands {
		if r := t.own(ctx, args...); r.status != http.StatusOK {
			return fmt.Errorf("%s %s: %s", args[0], args[1], r)
		}
	}
	return nil
}

// restart stops a node as kill -9 does, starts it, and returns how long it took to be ready.
func (t *Target) restart(ctx context.Context, node int) (time.Duration, error) {
	n := t.Nodes[node]
	if err := errors.Join(n.Kill(), n.Start()); err != nil {
		return 0, err
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err := t.WaitNodeReady(ctx, n)
	return time.Since(began), err
}

// Resident returns the resident memory of a node's process in bytes.
func (t *Target) Resident(node int) (int64, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(t.Nodes[node].Pid()), "statm"))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0, fmt.Errorf("memory of n%d: %q: %w", node+1, text, err)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// peaks watches the memory of all nodes until end is called, which returns by how much that of one grew at most.
func (t *Target) peaks() (end func() (int64, error)) {
	type node struct{ first, most int64 }
	stop, done := make(chan struct{}), make(chan error, 1)
	nodes := make([]node, len(t.Nodes))
	look := func() error {
		for i := range nodes {
			now, err := t.Resident(i)
			if err != nil {
				return err
			}
			if nodes[i].first == 0 {
				nodes[i].first = now
			}
			nodes[i].most = max(nodes[i].most, now)
		}
		return nil
	}
	first := look()
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for err := first; ; err = look() {
			select {
			case <-tick.C:
				if err == nil {
					continue
				}
			case <-stop:
			}
			done <- err
			return
		}
	}()
	return func() (grown int64, err error) {
		close(stop)
		err = <-done
		for _, n := range nodes {
			grown = max(grown, n.most-n.first)
		}
		return grown, err
	}
}

// mebibytes prints a size.
func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", (n+1<<19)>>20) }

// arch is the processor architecture that nodes report.
const arch = runtime.GOARCH
