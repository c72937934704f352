package attack

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// rights has credentials do more than they may.
func rights(ctx context.Context, t *Target) (string, error) {
	count := 0
	for _, path := range []string{"/v2/keys", "/db/" + Attacker + "/v2/keys"} {
		for _, token := range []string{t.AttackerReadOnly, testcluster.MessagesReadOnlyToken, testcluster.ReadOnlyToken} {
			count++
			if r := t.ask(ctx, 0, http.MethodGet, path, token, nil); r.err != nil || r.status/100 != 4 || contains(r.body, "sig_") {
				return "", fmt.Errorf("GET %s with a read-only token: %s", path, r)
			}
		}
	}
	for _, args := range [][]string{
		{"EVAL_RO", "return 1", "0"}, {"EVALSHA_RO", strings.Repeat("0", 40), "0"}, {"FCALL_RO", "f", "0"}, {"EVAL", "return 1", "0"}, {"SCRIPT", "SHOW"},
		{"FUNCTION", "LIST"}, {"FUNCTION", "DUMP"}, {"RANDOMKEY"}, {"KEYS", "*"}, {"SCAN", "0"}, {"SET", "k", "v"}, {"PUBLISH", "c", "m"}, {"ACL", "LIST"},
		{"MSG.PUBLISH", "http://127.0.0.1:1/", "x"}, {"FLUSHALL"}, {"CONFIG", "SET", "maxmemory", "1"}, {"RESTTOKEN", "default", "x"},
	} {
		count++
		if r := t.command(ctx, 0, Attacker, t.AttackerReadOnly, args...); r.err != nil || r.status/100 != 4 {
			return "", fmt.Errorf("%s with a read-only token: %s", args, r)
		}
	}
	for _, path := range []string{"/metrics", "/healthz"} {
		count++
		r := t.send(ctx, t.client, 0, http.MethodGet, path, "", http.Header{"X-Forwarded-For": {"192.0.2.1"}}, nil)
		if r.err != nil || r.status != http.StatusUnauthorized {
			return "", fmt.Errorf("%s behind a proxy, without a token: %s", path, r)
		}
	}
	for _, args := range [][]string{{"PING"}, {"NOSUCH"}, {"GET", "k"}, {"COMMAND"}, {"INFO"}, {"SUBSCRIBE", "c"}, {"MULTI"}} {
		count++
		if line, err := t.once(0, args); err != nil || !strings.HasPrefix(line, "-NOAUTH") {
			return "", fmt.Errorf("%s before a login: %q, %v", args[0], line, err)
		}
	}
	c, err := t.dialRESP(0)
	if err != nil {
		return "", err
	}
	defer c.Close()
	login := respCommand("AUTH", Attacker+"/default", t.AttackerToken)
	if _, err := c.Write(append([]byte("POST / HTTP/1.1\r\nHost: h\r\n\r\n"), login...)); err != nil {
		return "", err
	}
	if answer, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) || bytes.Contains(answer, []byte("+OK")) {
		return "", fmt.Errorf("RESP went on after a line of HTTP: %q, %v", answer, err)
	}
	return fmt.Sprintf("%d requests refused", count+1), nil
}

// forgedHeaders forwards headers with the names of the service's own to a destination, which gets none of them.
func forgedHeaders(ctx context.Context, t *Target) (string, error) {
	arrived := make(chan http.Header, 1)
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case arrived <- r.Header:
		default: // a second delivery
		}
	}))
	defer sink.Close()
	header := http.Header{"Upstash-Forward-X-Mine": {"1"}}
	names := []string{"Schedule-Id", "Region", "Failure-Callback", "Callback", "Topic-Name", "Caller-Ip", "Retried", "Message-Id", "Signature"}
	for _, name := range names {
		for _, prefix := range []string{"Upstash-", "Svc-", "svc-"} {
			header["Upstash-Forward-"+prefix+name], header["Svc-Forward-"+prefix+name] = []string{"forged"}, []string{"forged"}
		}
	}
	r := t.send(ctx, t.client, 0, http.MethodPost, "/v2/publish/"+sink.URL, t.AttackerToken, header, []byte("x"))
	if r.err == nil && r.status/100 == 4 {
		return "refused when it is published", nil
	}
	if r.err != nil || r.status/100 != 2 {
		return "", fmt.Errorf("publish: %s", r)
	}
	select {
	case got := <-arrived:
		for name, values := range got {
			if slices.Contains(values, "forged") {
				return "", fmt.Errorf("%s was forged", name)
			}
		}
		if got.Get("X-Mine") != "1" {
			return "", fmt.Errorf("an honest header did not arrive: %v", got)
		}
	case <-time.After(30 * time.Second):
		return "", errors.New("the message was not delivered within 30 s")
	}
	return fmt.Sprintf("%d names under 3 prefixes, none arrived", len(names)), nil
}

// headless sends a request with a token and, on the same connection, one without any header or without a token.
func headless(_ context.Context, t *Target) (string, error) {
	body := `["SET","headless","1"]`
	first := fmt.Sprintf("POST /db/%s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", Attacker, t.AttackerToken, len(body), body)
	seconds := []string{
		"POST / HTTP/1.1\r\n\r\n", "GET /db/" + Attacker + "/get/headless HTTP/1.1\r\n\r\n", "GET /db/" + Attacker + "/get/headless HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET /db/" + Attacker + "/get/headless HTTP/1.0\r\n\r\n", "GET /db/" + Attacker + "/get/headless HTTP/1.1\r\nHost: h\r\nAuthorization:\r\n\r\n",
		fmt.Sprintf("POST /db/%s HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", Attacker, len(body), body),
	}
	for node := range t.Nodes {
		for _, second := range seconds {
			statuses, err := t.onOne(node, first, second)
			if err != nil || len(statuses) != 2 || statuses[0] != 200 || statuses[1]/100 != 4 {
				return "", fmt.Errorf("%.60q after a request with a token: statuses %v, %v", second, statuses, err)
			}
		}
	}
	return fmt.Sprintf("%d requests refused", len(seconds)*len(t.Nodes)), nil
}

// onOne sends requests one after the other on one connection and returns their statuses.
func (t *Target) onOne(node int, requests ...string) (statuses []int, err error) {
	c, err := net.DialTimeout("tcp", t.Nodes[node].HTTP, silence)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	r := bufio.NewReader(c)
	for _, request := range requests {
		if _, err := io.WriteString(c, request); err != nil {
			return statuses, err
		}
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			return statuses, err
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			return statuses, err
		}
		res.Body.Close()
		statuses = append(statuses, res.StatusCode)
	}
	return statuses, nil
}

// processList reads the arguments of all nodes as other users of the machine can.
func processList(_ context.Context, t *Target) (string, error) {
	secrets := []string{t.Secret, t.GossipKey, testcluster.Token, testcluster.AdminToken, testcluster.MessagesToken, testcluster.ReadOnlyToken}
	for i, n := range t.Nodes {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(n.Pid()), "cmdline"))
		if err != nil || !bytes.Contains(text, []byte("--gossip-key")) {
			return "", fmt.Errorf("arguments of n%d: %q, %v", i+1, text, err)
		}
		for _, secret := range secrets {
			if bytes.Contains(text, []byte(secret)) {
				return "", fmt.Errorf("n%d shows a secret in its arguments", i+1)
			}
		}
	}
	return fmt.Sprintf("%d nodes, none of %d secrets shown", len(t.Nodes), len(secrets)), nil
}
