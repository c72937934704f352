package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cli/doctor"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/rdb"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/node/samples"
)

// workflowSettings are the default settings of workflows.
const workflowSettings = `{"runRetentionMs":604800000,"runBytes":8589934592,"dlqRetentionMs":604800000,"maxInlineLog":1048576,` +
	`"storedNotificationBytes":1048576,"maxStoredNotifications":100,"maxInvokeDepth":100}`

// messageSettings are the default settings of messages.
const messageSettings = `{"eventRetentionMs":1209600000,"eventBytes":34359738368,"dlqRetentionMs":604800000,"dlqBytes":1073741824,"graceMs":600000,` +
	`"dedupWindowMs":600000,"defaultRetries":3,"maxTimeoutMs":7200000,"maxDelayMs":0,"maxMessageSize":0,"maxRetries":0,"maxParallelism":0,"maxQueues":0,` +
	`"maxSchedules":0,"maxTopics":0,"maxEndpointsPerTopic":0,"globalParallelism":0}`

const asAdmin = "Authorization: Bearer " + httpapitest.AdminToken

func TestHealth(t *testing.T) {
	g := newGateway(t)
	for _, method := range []string{"GET", "HEAD"} {
		for _, target := range []string{"/livez", "/readyz"} {
			if a := g.ask(t, method, target, "", "Authorization:"); a.status != 200 {
				t.Errorf("%s %s: %+v", method, target, a)
			}
		}
	}
	g.engine.SetReady(errors.New("no leader for 3s"))
	if a := g.ask(t, "GET", "/livez", "", "Authorization:"); a.status != 200 {
		t.Errorf("livez: %+v", a)
	}
	if a := g.ask(t, "GET", "/readyz", "", "Authorization:"); a.status != 503 || !strings.Contains(a.body, "no leader for 3s") {
		t.Errorf("readyz: %+v", a)
	}
	a := g.ask(t, "GET", "/healthz", "", asAdmin)
	var health struct {
		Live, Ready bool
		Reason      string
	}
	if err := json.Unmarshal([]byte(a.body), &health); err != nil || a.status != 503 || !health.Live || health.Ready || health.Reason != "no leader for 3s" {
		t.Errorf("healthz: %+v, %v", a, err)
	}
}

// TestHealthOfAFullDisk: a node that refuses writes is ready for reads. Every client is told that it does; only clients that may
// see the full state are told how much room is missing.
func TestHealthOfAFullDisk(t *testing.T) {
	g := newGateway(t)
	const room = "/var/lib/trireme has 240 of 1000 bytes free; at least 255 must be free"
	for _, c := range []struct {
		ready, accepting error
		status           int
		readyz, health   string
	}{
		{nil, nil, 200, "ok\n", `{"live":true,"ready":true,"writes":true}`},
		{nil, errors.New(room), 200, "ok\nreads only: free disk space is below the floor (--min-free-disk), writes are refused\n", `{"live":true,"ready":true,"reason":"` + room + `","writes":false}`},
		{errors.New("no leader"), errors.New(room), 503, "not ready: no leader\n", `{"live":true,"ready":false,"reason":"no leader","writes":false}`},
	} {
		g.engine.SetReady(c.ready)
		g.engine.SetAccepting(c.accepting)
		if a := g.ask(t, "GET", "/readyz", "", "Authorization:"); a.status != c.status || a.body != c.readyz {
			t.Errorf("readyz: %+v, want %q", a, c.readyz)
		}
		if a := g.ask(t, "GET", "/healthz", "", asAdmin); a.status != c.status || a.body != c.health {
			t.Errorf("healthz: %+v, want %s", a, c.health)
		}
		if a := g.ask(t, "GET", "/livez", "", "Authorization:"); a.status != 200 || a.body != "ok\n" {
			t.Errorf("livez: %+v", a)
		}
	}
}

// TestHealthOfASlowDisk: such a node is ready, and says since when.
func TestHealthOfASlowDisk(t *testing.T) {
	g := newGateway(t)
	g.engine.SetSlowDisk(time.UnixMilli(1_700_000_000_000))
	if a := g.ask(t, "GET", "/readyz", "", "Authorization:"); a.status != 200 || a.body != "ok\nslow disk: since 2023-11-14T22:13:20Z\n" {
		t.Errorf("readyz: %+v", a)
	}
	if a := g.ask(t, "GET", "/healthz", "", asAdmin); a.status != 200 || a.body != `{"live":true,"ready":true,"slowDiskSince":1700000000000,"writes":true}` {
		t.Errorf("healthz: %+v", a)
	}
	g.engine.SetReady(errors.New("it has not caught up"))
	if a := g.ask(t, "GET", "/readyz", "", "Authorization:"); a.status != 503 || a.body != "not ready: it has not caught up\nslow disk: since 2023-11-14T22:13:20Z\n" {
		t.Errorf("readyz: %+v", a)
	}
}

// Metrics and the full state are for the operator, or for every client that reaches the listener if so configured.
func TestWhoMaySeeMetrics(t *testing.T) {
	closed := newGateway(t)
	open := newGateway(t, func(o *httpapi.Options) { o.MetricsPublic = true })
	for _, target := range []string{"/metrics", "/healthz"} {
		for header, status := range map[string]int{"Authorization:": 401, "Authorization: Bearer x": 401, "Authorization: Bearer " + httpapitest.Token: 403, asAdmin: 200} {
			if a := closed.ask(t, "GET", target, "", header); a.status != status {
				t.Errorf("%s with %s: %d", target, header, a.status)
			}
			if a := open.ask(t, "GET", target, "", header); a.status != 200 {
				t.Errorf("open %s with %s: %d", target, header, a.status)
			}
		}
		if a := closed.ask(t, "GET", target+"?_token="+httpapitest.AdminToken, "", "Authorization:"); a.status != 200 {
			t.Errorf("%s with the token in the query: %d", target, a.status)
		}
	}
}

// On a loopback listener clients of the machine itself need no token; requests that a proxy there passes on come from
// anywhere.
func TestMetricsBehindALocalProxy(t *testing.T) {
	g := newGateway(t, func(o *httpapi.Options) { o.MetricsLocal = true })
	for _, target := range []string{"/metrics", "/healthz"} {
		if a := g.ask(t, "GET", target, "", "Authorization:"); a.status != 200 {
			t.Errorf("%s from the machine itself: %d", target, a.status)
		}
		for _, line := range []string{"X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https", "Forwarded: for=192.0.2.1", "x-real-ip: 192.0.2.1", "Via: 1.1 proxy", "X-Forwarded-Host:"} {
			if a := g.raw(t, "GET "+target+" HTTP/1.1\r\nHost: 127.0.0.1\r\n"+line+"\r\n\r\n"); a.status != 401 {
				t.Errorf("%s with %s: %d", target, line, a.status)
			}
			if a := g.raw(t, "GET "+target+" HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "+httpapitest.AdminToken+"\r\n"+line+"\r\n\r\n"); a.status != 200 {
				t.Errorf("%s with %s and the admin token: %d", target, line, a.status)
			}
		}
		if a := g.raw(t, "GET "+target+" HTTP/1.1\r\nHost: metrics.example\r\n\r\n"); a.status != 401 {
			t.Errorf("%s of a name that is not loopback: %d", target, a.status)
		}
	}
}

func TestMetricsCountRequests(t *testing.T) {
	g := newGateway(t, func(o *httpapi.Options) { o.MetricsPublic = true })
	for range 3 {
		g.ask(t, "GET", "/ping", "")
	}
	g.ask(t, "POST", "/", `["SET","k","v"]`)
	g.ask(t, "POST", "/", `["SET","k"]`)
	g.ask(t, "POST", "/pipeline", `[["GET","k"],["GET","k"]]`)
	g.ask(t, "POST", "/multi-exec", `[["GET","k"]]`, "Authorization:")
	g.ask(t, "DELETE", "/x", "")
	page := g.ask(t, "GET", "/metrics", "").body
	for _, want := range []string{
		`trireme_http_requests_total{kind="path",status="200"} 3`,
		`trireme_http_requests_total{kind="body",status="200"} 1`,
		`trireme_http_requests_total{kind="body",status="400"} 1`,
		`trireme_http_requests_total{kind="pipeline",status="200"} 1`,
		`trireme_http_requests_total{kind="other",status="401"} 1`,
		`trireme_http_requests_total{kind="other",status="405"} 1`,
		`trireme_http_request_duration_seconds_count{kind="path"} 3`,
		`trireme_http_requests_in_flight 1`,
		`trireme_http_commands_total 7`,
	} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("no line %s in\n%s", want, grep(page, "trireme_http_", want))
		}
	}
}

// grep returns the lines of a page that begin like want.
func grep(page, prefix, want string) string {
	var lines []string
	name, _, _ := strings.Cut(want, "{")
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, prefix) && strings.HasPrefix(line, name) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func TestRegistryOfAnotherServer(t *testing.T) {
	o := httpapi.Options{Engine: httpapitest.New()}
	if _, err := httpapi.New(httpapi.Options{}); err == nil {
		t.Error("a server without engine")
	}
	o.MaxRequestSize = httpapi.LargestRequestSize + 1
	if _, err := httpapi.New(o); err == nil {
		t.Error("a request size that no log entry can have")
	}
}

// admin is a cluster of one node.
type admin struct {
	to, removed, restored string
	err, cut              error
}

func (a *admin) Cluster(context.Context) (httpapi.ClusterStatus, error) {
	n := httpapi.NodeStatus{ID: "n1", HTTP: "h", Cluster: "c", Suffrage: "voter", State: "leader", AppliedIndex: 7, LastContactMs: 12, Version: "v"}
	short := []httpapi.ShortHistory{{Database: "shop", Of: "events", ReachMs: 1, RetentionMs: 2, MaxBytes: 3}}
	return httpapi.ClusterStatus{Leader: "n1", Term: 3, Nodes: []httpapi.NodeStatus{n}, ShortHistories: short}, a.err
}

func (a *admin) TransferLeader(_ context.Context, to string) error {
	a.to = to
	return a.err
}

func (a *admin) Drain(context.Context) error { return a.err }

func (a *admin) RemoveNode(_ context.Context, id string, force bool) (bool, error) {
	a.removed = id + " " + strconv.FormatBool(force)
	return id != "n1", a.err
}

func (a *admin) ReplaceNode(_ context.Context, id, with string) (bool, error) {
	a.removed = id + " by " + with
	return id != "n1", a.err
}

func (a *admin) History(context.Context, samples.Question, string) samples.Cluster {
	return samples.Merge(nil, nil)
}

func (a *admin) Examine(context.Context) any {
	return doctor.Report{Node: "n1", Findings: []doctor.Finding{{Check: "disk", Found: "fine"}}}
}

func (a *admin) Snapshot(context.Context) (httpapi.SnapshotStatus, error) {
	return httpapi.SnapshotStatus{ID: "3-7", Index: 7, Bytes: 100}, a.err
}

func (a *admin) Backup(_ context.Context, stale bool) (func(io.Writer) error, error) {
	return func(w io.Writer) error {
		if _, err := io.WriteString(w, map[bool]string{true: "a stale", false: "a"}[stale]+" backup"); err != nil || a.cut == nil {
			return err
		}
		return a.cut
	}, a.err
}

func (a *admin) Export(_ context.Context, database string, target rdb.Target) (func(io.Writer) (rdb.Written, error), error) {
	if database != "default" {
		return nil, fsm.ErrNoDatabase
	}
	return func(w io.Writer) (rdb.Written, error) {
		_, err := fmt.Fprintf(w, "%+v", target)
		return rdb.Written{Keys: 3, Bytes: 9}, err
	}, a.err
}

func (a *admin) Quarantine(_ context.Context, database string) (fsm.QuarantineOrder, error) {
	return fsm.QuarantineOrder{Database: database, Number: 2, Index: 812}, a.err
}

func (a *admin) ExportMessages(_ context.Context, database string) (func(io.Writer) error, error) {
	if database != "default" {
		return nil, fsm.ErrNoDatabase
	}
	return func(w io.Writer) error {
		_, err := io.WriteString(w, "lines\n")
		return errors.Join(err, a.cut)
	}, a.err
}

func (a *admin) ImportMessages(_ context.Context, database string, r io.Reader) (fsm.ImportedMessages, error) {
	if a.err != nil {
		return fsm.ImportedMessages{}, a.err
	}
	b, err := io.ReadAll(r)
	a.restored = database + ": " + string(b)
	return fsm.ImportedMessages{Messages: queue.Counts{Messages: 3, Dead: 1}, Workflows: workflow.Counts{Runs: 2}}, err
}

func (a *admin) Restore(_ context.Context, r io.Reader) (fsm.Restoration, error) {
	if a.err != nil {
		return fsm.Restoration{}, a.err
	}
	b, err := io.ReadAll(r)
	a.restored = string(b)
	return fsm.Restoration{Index: 7, Epoch: 1, Contents: fsm.Contents{Databases: []fsm.DatabaseInfo{{Keys: 3}}}}, err
}

func TestAdministration(t *testing.T) {
	a := &admin{}
	g := newGateway(t, func(o *httpapi.Options) { o.Admin = a })
	for _, c := range []struct {
		method, target, body string
		status               int
		reply                string
	}{
		{"GET", "/admin/cluster", "", 200, `{"leader":"n1","term":3,"nodes":[{"id":"n1","http":"h","cluster":"c","suffrage":"voter","state":"leader","appliedIndex":7,"lastContactMs":12,"version":"v"}],"shortHistories":[{"database":"shop","of":"events","reachMs":1,"retentionMs":2,"maxBytes":3}]}`},
		{"POST", "/admin/cluster/transfer-leader", `{"to":"n2"}`, 200, `{"result":"OK"}`},
		{"POST", "/admin/cluster/transfer-leader", "", 200, `{"result":"OK"}`},
		{"POST", "/admin/cluster/transfer-leader", `{"for":"n2"}`, 400, ""},
		{"POST", "/admin/cluster/transfer-leader", `n2`, 400, ""},
		{"DELETE", "/admin/cluster/nodes/n1", "", 200, `{"result":"leaving"}`},
		{"DELETE", "/admin/cluster/nodes/n2?force=true", "", 200, `{"result":"OK"}`},
		{"DELETE", "/admin/cluster/nodes/n2?force=1", "", 400, ""},
		{"DELETE", "/admin/cluster/nodes/", "", 404, ""},
		{"POST", "/admin/cluster/nodes/n2/replace", `{}`, 400, ""},
		{"POST", "/admin/cluster/nodes/n2/replace", `{"by":"n4"}`, 400, ""},
		{"POST", "/admin/cluster/nodes/n2/replace", `{"with":"n4"}`, 200, `{"result":"OK"}`},
		{"POST", "/admin/databases/shop/quarantine", "", 200, `{"database":"shop","index":812}`},
		{"DELETE", "/admin/databases/none/quarantine", "", 404, `{"error":"ERR there is no database \"none\""}`},
		{"DELETE", "/admin/databases/default/quarantine", "", 409, `{"error":"ERR the database is not in quarantine"}`},
		{"POST", "/admin/snapshot", "", 200, `{"id":"3-7","index":7,"bytes":100}`},
		{"POST", "/admin/drain", "", 200, `{"result":"OK"}`},
		{"GET", "/admin/drain", "", 405, ""},
		{"GET", "/admin/doctor", "", 200, `{"node":"n1","worst":"ok","findings":[{"check":"disk","level":"ok","found":"fine"}]}`},
		{"GET", "/admin/settings", "", 200, `{"maxMemory":0,"dailyRequestLimit":0,"maxKeySize":0,"maxRecordSize":0,"maxPending":0,"maxRequestWork":10000000,"maxScriptSteps":100000000,"maxMemoryPolicy":"noeviction","tenantWorkPercent":5,"tenantScriptPercent":2,"tenantMemoryPercent":50}`},
		{"POST", "/admin/settings", `{"maxMemory":1000}`, 200, `{"maxMemory":1000,"dailyRequestLimit":0,"maxKeySize":0,"maxRecordSize":0,"maxPending":0,"maxRequestWork":10000000,"maxScriptSteps":100000000,"maxMemoryPolicy":"noeviction","tenantWorkPercent":5,"tenantScriptPercent":2,"tenantMemoryPercent":50}`},
		{"POST", "/admin/settings", `{"dailyRequestLimit":5}`, 200, `{"maxMemory":1000,"dailyRequestLimit":5,"maxKeySize":0,"maxRecordSize":0,"maxPending":0,"maxRequestWork":10000000,"maxScriptSteps":100000000,"maxMemoryPolicy":"noeviction","tenantWorkPercent":5,"tenantScriptPercent":2,"tenantMemoryPercent":50}`},
		{"POST", "/admin/settings", `{"maxMemory":-1}`, 400, ""},
		{"POST", "/admin/settings", `{"tenantMemoryPercent":0}`, 400, `{"error":"ERR tenantWorkPercent, tenantScriptPercent and tenantMemoryPercent must be from 1 to 100"}`},
		{"POST", "/admin/settings", `{"tenantMemoryPercent":101}`, 400, ""},
		{"GET", "/admin/settings", "", 200, `{"maxMemory":1000,"dailyRequestLimit":5,"maxKeySize":0,"maxRecordSize":0,"maxPending":0,"maxRequestWork":10000000,"maxScriptSteps":100000000,"maxMemoryPolicy":"noeviction","tenantWorkPercent":5,"tenantScriptPercent":2,"tenantMemoryPercent":50}`},
		{"GET", "/admin/settings/messages", "", 200, messageSettings},
		{"POST", "/admin/settings/messages", `{"dlqRetentionMs":5000}`, 200, strings.Replace(messageSettings, "604800000", "5000", 1)},
		{"POST", "/admin/settings/messages", `{"maxRetries":-1}`, 400, `{"error":"ERR maxRetries must be 0 or greater (0 = unlimited), got -1"}`},
		{"POST", "/admin/settings/messages", `{"maxTries":1}`, 400, ""},
		{"POST", "/admin/settings/messages", `{"dlqRetentionMs":604800000}`, 200, messageSettings},
		{"GET", "/admin/settings/workflows", "", 200, workflowSettings},
		{"POST", "/admin/settings/workflows", `{"runRetentionMs":5000}`, 200, strings.Replace(workflowSettings, "604800000", "5000", 1)},
		{"POST", "/admin/settings/workflows", `{"maxInvokeDepth":-1}`, 400, `{"error":"ERR maxInvokeDepth must be 0 or greater (0 = unlimited), got -1"}`},
		{"POST", "/admin/settings/workflows", `{"maxDepth":1}`, 400, ""},
		{"POST", "/admin/settings/workflows", `{"runRetentionMs":604800000}`, 200, workflowSettings},
		{"DELETE", "/admin/cluster", "", 405, ""},
		{"GET", "/admin/nothing", "", 404, ""},
		{"GET", "/admin/cluster/", "", 404, ""},
		{"GET", "/admin", "", 404, ""},
	} {
		got := g.ask(t, c.method, c.target, c.body, asAdmin)
		if got.status != c.status || (c.reply != "" && got.body != c.reply) {
			t.Errorf("%s %s %s: %d %s", c.method, c.target, c.body, got.status, got.body)
		}
		if got.status != 200 && got.header.Get("Svc-Outcome") != "not-applied" {
			t.Errorf("%s %s: %v", c.method, c.target, got.header)
		}
	}
	if a.removed != "n2 by n4" {
		t.Errorf("the last change was %q", a.removed)
	}
	if a.to != "" {
		t.Errorf("the last transfer went to %q", a.to)
	}
	for header, status := range map[string]int{"Authorization:": 401, "Authorization: Bearer x": 401, "Authorization: Bearer " + httpapitest.Token: 403} {
		if got := g.ask(t, "POST", "/admin/cluster/transfer-leader", `{"to":"n9"}`, header); got.status != status || a.to == "n9" {
			t.Errorf("%s: %d, moved to %q", header, got.status, a.to)
		}
	}
}

// adminFailure is an error of Admin, and the reply that tells of it.
type adminFailure struct {
	err               error
	status            int
	outcome, contains string
}

// answersFailures sends a request once for each error that it fails with. No reply has a secret.
func answersFailures(t *testing.T, method, target, body string, list []adminFailure) {
	t.Helper()
	a := &admin{}
	g := newGateway(t, func(o *httpapi.Options) { o.Admin = a })
	for _, c := range list {
		a.err = c.err
		got := g.ask(t, method, target, body, asAdmin)
		if got.status != c.status || got.header.Get("Svc-Outcome") != c.outcome || !strings.Contains(got.body, c.contains) || strings.Contains(got.body, "secret") {
			t.Errorf("%v: %+v", c.err, got)
		}
	}
}

func TestAdministrationFailures(t *testing.T) {
	answersFailures(t, "GET", "/admin/cluster", "", []adminFailure{
		{&httpapi.AdminError{Status: 404, Text: "ERR no node n9"}, 404, "not-applied", ""},
		{fsm.ErrNoLeader, 503, "not-applied", ""},
		{errors.New("secret detail"), 500, "not-applied", ""},
	})
	g := newGateway(t, func(o *httpapi.Options) { o.Admin = &admin{} })
	g.engine.FailWrites(fsm.ErrUnknown, true)
	if got := g.ask(t, "POST", "/admin/settings", `{"maxMemory":9}`, asAdmin); got.status != 503 || got.header.Get("Svc-Outcome") != "unknown" {
		t.Errorf("%+v", got)
	}
}

// TestTimeDifferenceIsTold: a ready node says by how much cluster time and the wall clocks differ, and since when.
func TestTimeDifferenceIsTold(t *testing.T) {
	g := newGateway(t)
	g.engine.SetTimeDifference(-4*time.Second, time.Minute)
	if a := g.ask(t, "GET", "/readyz", "", "Authorization:"); a.status != 200 || !strings.HasPrefix(a.body, "ok\ntime: cluster time is 4s behind the wall clocks of a majority since ") {
		t.Errorf("readyz: %+v", a)
	}
	if a := g.ask(t, "GET", "/healthz", "", asAdmin); a.status != 200 || !strings.Contains(a.body, `"timeAheadMs":-4000,"timeDiffersSince":1`) {
		t.Errorf("healthz: %+v", a)
	}
}
