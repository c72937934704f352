package httpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// entryPoints are all entry points of a destination. do publishes to a URL, given as a user writes it, and returns the status
// of the answer (of a command: 200 or 400).
var entryPoints = []struct {
	name string
	do   func(m *mail, to string) (status int, text string)
}{
	{"publish, escaped as a whole", func(m *mail, to string) (int, string) {
		return m.do("POST", "/v2/publish/"+url.PathEscape(to), "x", delayed...)
	}},
	{"enqueue", func(m *mail, to string) (int, string) { return m.do("POST", "/v2/enqueue/q/"+url.PathEscape(to), "x") }},
	{"schedule", func(m *mail, to string) (int, string) {
		return m.do("POST", "/v2/schedules/"+url.PathEscape(to), "x", "Upstash-Cron", "0 0 1 1 *")
	}},
	{"batch", func(m *mail, to string) (int, string) {
		return m.do("POST", "/v2/batch", jsonOf([]any{map[string]any{"destination": to, "headers": map[string]string{"Upstash-Delay": "1h"}}}))
	}},
	{"endpoint of a URL group", func(m *mail, to string) (int, string) {
		return m.do("POST", "/v2/topics/g/endpoints", jsonOf(map[string]any{"endpoints": []any{map[string]string{"url": to}}}))
	}},
	{"callback in a header", func(m *mail, to string) (int, string) {
		return m.do("POST", "/v2/publish/https://plain.test/", "x", append(delayed, "Upstash-Callback", to)...)
	}},
	{"failure callback in a batch", func(m *mail, to string) (int, string) {
		return m.do("POST", "/v2/batch", jsonOf([]any{map[string]any{"destination": "https://plain.test", "headers": map[string]string{"Upstash-Delay": "1h", "Upstash-Failure-Callback": to}}}))
	}},
	{"callback in a query", func(m *mail, to string) (int, string) {
		return m.do("POST", "/v2/publish/https://plain.test/?upstash-callback="+url.QueryEscape(to), "x", delayed...)
	}},
	{"MSG.PUBLISH", func(m *mail, to string) (int, string) { return m.command("MSG.PUBLISH", to, "x", "DELAY", "1h") }},
	{"MSG.ENQUEUE with a callback", func(m *mail, to string) (int, string) {
		return m.command("MSG.ENQUEUE", "q", "https://plain.test/", "x", "CALLBACK", to)
	}},
	{"a script", func(m *mail, to string) (int, string) {
		return m.command("EVAL", "return redis.call('MSG.PUBLISH', ARGV[1], 'x', 'DELAY', '1h', 'FAILURE-CALLBACK', ARGV[1])", "0", to)
	}},
	{"WF.TRIGGER", func(m *mail, to string) (int, string) { return m.command("WF.TRIGGER", to, "x", "DELAY", "1h") }},
	{"trigger", func(m *mail, to string) (int, string) {
		return m.do("POST", "/v2/trigger/"+url.PathEscape(to), "x", append(delayed, "Upstash-Failure-Callback", to)...)
	}},
	{"batch of triggers", func(m *mail, to string) (int, string) {
		return m.do("POST", "/v2/batch/trigger", jsonOf([]any{map[string]any{"destination": to, "headers": map[string]string{"Upstash-Delay": "1h"}}}))
	}},
	{"start of a run", func(m *mail, to string) (int, string) { return m.step("", to, "", "upstash-workflow-init", "true") }},
	{"step of a run", func(m *mail, to string) (int, string) {
		return m.step(m.run(), to, `{"stepId":1,"stepName":"s","stepType":"Run","out":"1","concurrent":1}`, "upstash-workflow-init", "false")
	}},
	{"call of a run", func(m *mail, to string) (int, string) {
		return m.step(m.run(), to, "", "upstash-workflow-init", "false", "upstash-workflow-calltype", "toCallback", "upstash-callback", to,
			"upstash-callback-forward-upstash-workflow-stepid", "1", "upstash-callback-forward-upstash-workflow-steptype", "Call",
			"upstash-callback-forward-upstash-workflow-stepname", "c", "upstash-callback-forward-upstash-workflow-concurrent", "1")
	}},
	{"wait of a run", func(m *mail, to string) (int, string) {
		return m.do("POST", "/v2/wait/e", jsonOf(map[string]any{"url": to, "timeoutUrl": to, "timeout": "1h", "step": map[string]any{"stepId": 1, "stepName": "w", "stepType": "Wait", "concurrent": 1}}),
			"Upstash-Workflow-RunId", m.run())
	}},
	{"invoke", func(m *mail, to string) (int, string) {
		body := jsonOf(map[string]any{"body": "", "headers": map[string]any{}, "workflowRunId": m.run(), "workflowUrl": to, "step": map[string]any{"stepId": 1, "stepName": "i", "stepType": "Invoke", "concurrent": 1}})
		return m.step("", to, body, "upstash-workflow-init", "true", "upstash-workflow-invoke", "true")
	}},
}

var delayed = []string{"Upstash-Delay", "1h"}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// command runs a command over the gateway.
func (m *mail) command(args ...string) (int, string) {
	m.Helper()
	m.next++
	r, err := http.NewRequestWithContext(m.Context(), "POST", "http://"+m.nodes.Addrs[m.next%len(m.nodes.Addrs)], strings.NewReader(jsonOf(args)))
	if err != nil {
		m.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+httpapitest.Token)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		m.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

// run starts a run and returns its id.
func (m *mail) run() string {
	m.Helper()
	id, _ := m.object(m.want(200, "", "POST", "/v2/trigger/https://plain.test/", "x", delayed...))["workflowRunId"].(string)
	return id
}

// step sends a message of a run; one without an id starts a run.
func (m *mail) step(run, to, body string, header ...string) (int, string) {
	m.Helper()
	m.next++
	if run == "" {
		run = fmt.Sprintf("wfr_new%d", m.next)
	}
	headers := map[string]string{"upstash-workflow-runid": run, "upstash-workflow-url": "https://plain.test/", "upstash-feature-set": "LazyFetch,InitialBody", "upstash-delay": "1h"}
	for i := 0; i < len(header); i += 2 {
		headers[header[i]] = header[i+1]
	}
	return m.do("POST", "/v2/batch", jsonOf([]any{map[string]any{"destination": to, "headers": headers, "body": body}}))
}

// records returns the stored messages, groups, schedules and runs, as bytes.
func (m *mail) records() (all []string) {
	m.Helper()
	node := m.nodes.Nodes[0]
	_, err := httpapitest.NodeEngine(node).Read(m.Context(), fsm.Reading{}, func(v *fsm.View) {
		emit := func(r []byte) error { all = append(all, string(r)); return nil }
		if err := v.Messages().Save(emit); err != nil {
			m.Error(err)
		}
		if err := v.Workflows().Save(emit); err != nil {
			m.Error(err)
		}
	})
	if err != nil {
		m.Fatal(err)
	}
	return all
}

// TestEveryDestinationIsStoredEscaped: whatever the entry point of a URL, records have it only in the form that goes
// over the wire.
func TestEveryDestinationIsStoredEscaped(t *testing.T) {
	m := startMail(t)
	for i, e := range entryPoints {
		if status, text := e.do(m, fmt.Sprintf("HTTP://H%d.test:80/a b/%%7C|?name=Ada L&q='\"<>é", i)); status/100 != 2 {
			t.Errorf("%s: %d %s", e.name, status, text)
		}
	}
	records := strings.Join(m.records(), "\n")
	for i, e := range entryPoints {
		want := fmt.Sprintf("HTTP://H%d.test:80/a%%20b/%%7C|?name=Ada%%20L&q=%%27%%22%%3C%%3E%%C3%%A9", i)
		found := regexp.MustCompile(fmt.Sprintf(`(?i)http://h%d\.test`, i)).FindAllStringIndex(records, -1)
		if len(found) == 0 {
			t.Errorf("%s: no record has it", e.name)
		}
		for _, at := range found {
			if got := records[at[0]:min(at[0]+len(want), len(records))]; got != want {
				t.Errorf("%s: stored is %q", e.name, got)
			}
		}
	}
}

// undeliverable are URLs to which no connection can be made on any network.
var undeliverable = []string{
	"http://h.test:0/", "http://h.test:65536/", "https://h.test:99999/", "http://h.test:abc/", "http://h.test:-1/", "http://:80/", "http:///x", "http://?x", "http://u@/",
	"http://a b/", "http://a<b/", "http://a%00b/", "http://-a/", "http://a-/", "http://a..b/", "http://.a/", "http://./", "http://a!b/", "http://" + strings.Repeat("a", 64) + ".test/",
	"http://" + strings.Repeat("a.", 127) + "a/", "http://256.1.1.1/", "http://1.2.3.4.5/", "http://0xg.1/", "http://[::1/", "http://[::g]/", "http://[1::2::3]/", "http://[fe80::1%25eth0]/",
	"http://xn--a/", "http://%ff/", "ftp://h.test/", "//h.test/", "h.test/x",
}

// TestUndeliverableURLsAreRefused at every entry point, and nothing of them is stored.
func TestUndeliverableURLsAreRefused(t *testing.T) {
	m := startMail(t)
	before := len(m.records())
	for i, e := range entryPoints {
		m.run() // so that each entry point is judged on its own
		for j, to := range undeliverable {
			if strings.HasPrefix(to, "http://xn--a") && strings.ToUpper(e.name[:2]) == e.name[:2] || e.name == "a script" && strings.HasPrefix(to, "http://xn--") {
				continue // commands have no tables of Unicode
			}
			if (i+j)%4 != 0 && !strings.Contains(to, ":0/") && !strings.Contains(to, ":65536") { // each kind of text at a quarter of the entry points
				continue
			}
			if status, text := e.do(m, to); status != 400 && status != 412 {
				t.Errorf("%s to %q: %d %s", e.name, to, status, text)
			}
		}
	}
	for _, r := range m.records() {
		if strings.Contains(r, "h.test:") {
			t.Errorf("stored (of %d before): %q", before, r)
		}
	}
}

// TestBlankQueueNames: an empty queue name in a path, and one of blanks in a path or a batch, are refused; an empty name in a
// batch counts as none.
func TestBlankQueueNames(t *testing.T) {
	m := startMail(t)
	for _, path := range []string{"/v2/enqueue//http://h.test/", "/v2/enqueue/%20/http://h.test/", "/v2/enqueue/%09/http://h.test/", "/v2/enqueue/a%20b/http://h.test/", "/v2/enqueue/", "/v2/enqueue"} {
		m.want(400, "", "POST", path, "x")
	}
	item := func(queue string) string { return fmt.Sprintf(`[{"destination":"http://h.test/","queue":%q}]`, queue) }
	for _, queue := range []string{" ", "\t", "a b"} {
		m.want(400, "", "POST", "/v2/batch", item(queue))
	}
	m.want(400, "", "POST", "/v2/publish/http://h.test/?upstash-queue-name=%20", "x")
	m.want(200, "", "POST", "/v2/batch", item(""))
	m.want(200, "", "POST", "/v2/batch", item("q"))
	m.want(200, "", "POST", "/v2/enqueue/q/http://h.test/", "x")
	if text := m.want(200, "", "GET", "/v2/queues", ""); strings.Count(text, `"name"`) != 1 {
		t.Errorf("the queues are %s", text)
	}
	for _, c := range []string{"MSG.PUBLISH", "WF.TRIGGER"} {
		if status, text := m.command(c, "http://h.test/", "x", "QUEUE-NAME", " "); status != 400 {
			t.Errorf("%s: %d %s", c, status, text)
		}
	}
	if status, text := m.command("MSG.ENQUEUE", " ", "http://h.test/", "x"); status != 400 {
		t.Errorf("MSG.ENQUEUE: %d %s", status, text)
	}
}

// TestHTTPIsRefusedEarly: if only https is allowed, no entry point over HTTP accepts an http destination. Destinations of
// commands are refused when they are sent (TestHTTPSOnly of egress).
func TestHTTPIsRefusedEarly(t *testing.T) {
	m := startMail(t, func(o *httpapi.Options) { o.Messages.HTTPSOnly = true })
	refused := 0
	for _, e := range entryPoints {
		t.Run(e.name, func(t *testing.T) {
			m := &mail{T: t, nodes: m.nodes, token: m.token}
			if status, text := e.do(m, "https://a.test/x"); status >= 300 {
				t.Errorf("https: %d %s", status, text)
			}
			for _, to := range []string{"http://a.test/x", "HTTP://a.test/x"} {
				status, text := e.do(m, to)
				if strings.Contains(text, "--egress-https-only") {
					refused++
				} else if !commands.MatchString(e.name) {
					t.Errorf("%s: %d %s", to, status, text)
				}
			}
		})
	}
	if refused < 24 {
		t.Errorf("%d requests are refused", refused)
	}
}

var commands = regexp.MustCompile(`^(MSG|WF)\.|script`)
