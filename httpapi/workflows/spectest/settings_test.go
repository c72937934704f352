package spectest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"
)

// settings are the rows of the protocol's section 15.
var settings = []claim{
	{"WP-15.1", func(t *testing.T, w *world) { // flow control holds every delivery of the runs of a key
		key := "flow-" + w.id()
		var ids []string
		for range 6 {
			ids = append(ids, w.start("m/slow", "", map[string]string{"upstash-flow-control-key": key, "upstash-flow-control-value": "parallelism=1"}))
		}
		for _, id := range ids {
			w.delivery(id, 1)
		}
		var times []time.Time
		for _, id := range ids {
			times = append(times, w.deliveries(id)[0].at)
		}
		for i, a := range times {
			for _, b := range times[i+1:] {
				w.true(b.Sub(a).Abs() > 80*time.Millisecond, "two deliveries of a key at once: %v apart", b.Sub(a))
			}
		}
	}},
	{"WP-15.2", func(t *testing.T, w *world) { // retries are 3, and the delay is an expression
		id := w.start("m/bad", "", map[string]string{"upstash-retry-delay": "150 * (1 + retried)", "upstash-failure-callback": ""})
		w.state(id, "RUN_FAILED")
		all := w.deliveries(id)
		w.true(len(all) == 4, "%d deliveries", len(all))
		for i, want := range []time.Duration{150, 300, 450} {
			gap := all[i+1].at.Sub(all[i].at)
			w.true(gap > (want-20)*time.Millisecond, "retry %d after %v", i+1, gap) // the attempt before may have been seen late
		}
		later := w.start("m/later", "", map[string]string{"upstash-retry-delay": "60000"})
		gap := w.delivery(later, 2).at.Sub(w.delivery(later, 1).at)
		w.true(gap > 900*time.Millisecond && gap < 50*time.Second, "Retry-After of a second: %v", gap)
	}},
	{"WP-15.3", func(t *testing.T, w *world) { // a timeout as text or as bare seconds
		for _, timeout := range []string{"30s", "30"} {
			id := w.start("m/ok", "", map[string]string{"upstash-timeout": timeout})
			w.delivery(id, 1)
		}
	}},
	{"WP-15.4", func(t *testing.T, w *world) { // a delay, and Not-Before, which wins
		began := time.Now()
		id := w.start("m/ok", "", map[string]string{"upstash-delay": "1s"})
		w.true(w.delivery(id, 1).at.Sub(began) > 990*time.Millisecond, "after %v", w.delivery(id, 1).at.Sub(began))
		number := w.start("m/ok", "", map[string]string{"upstash-delay": "1"})
		w.delivery(number, 1)
		now := w.start("m/ok", "", map[string]string{"upstash-delay": "1d10h30m", "upstash-not-before": fmt.Sprint(time.Now().Unix())})
		w.delivery(now, 1)
	}},
	{"WP-15.5", func(t *testing.T, w *world) { // labels, seen by the app too
		id := w.start("m/ok", "", map[string]string{"upstash-label": "one-1,two.2", "upstash-forward-upstash-label": "one-1,two.2"})
		w.is("labels", w.log(id).at("labels"), `["one-1","two.2"]`)
		w.true(w.delivery(id, 1).header.Get("Upstash-Label") == "one-1,two.2", "%v", w.delivery(id, 1).header)
	}},
	{"WP-15.6", func(t *testing.T, w *world) { // ids without the prefix are ids, and generated ones have it
		id := strings.TrimPrefix(w.id(), "wfr_")
		w.startAs(id, "m/ok", "", nil)
		w.delivery(id, 1)
		made := w.ask(200, "POST", "/v2/trigger/"+w.url("m/ok"), nil, "")
		w.true(strings.HasPrefix(made.at("workflowRunId").String(), "wfr_") && len(made.at("workflowRunId").String()) > 20, "%v", made)
	}},
	{"WP-15.7", func(t *testing.T, w *world) { // the creation is the server's, the same everywhere
		before := time.Now().UnixMilli()
		id := w.start("m/ok", "", nil)
		created := w.log(id).at("workflowRunCreatedAt")
		w.true(created.int() >= before-1000 && created.int() <= time.Now().UnixMilli()+1000, "%v", created)
		w.is("CreatedAt", created, w.delivery(id, 1).header.Get("Upstash-Workflow-CreatedAt"))
	}},
	{"WP-15.8", func(t *testing.T, w *world) { // every delivery is signed with the current key
		key := w.ask(200, "GET", "/v2/keys", nil, "").at("current").String()
		id := w.start("m/ok", "x", nil)
		d := w.delivery(id, 1)
		parts := strings.Split(d.header.Get("Upstash-Signature"), ".")
		if len(parts) != 3 {
			t.Fatalf("signature %q", d.header.Get("Upstash-Signature"))
		}
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(parts[0] + "." + parts[1]))
		w.true(base64.RawURLEncoding.EncodeToString(mac.Sum(nil)) == parts[2], "the signature is wrong")
		text, err := base64.RawURLEncoding.DecodeString(parts[1])
		if err != nil {
			t.Fatal(err)
		}
		claims, sum := w.parse(string(text)), sha256.Sum256(d.body)
		w.is("iss", claims.at("iss"), "Upstash")
		w.is("sub", claims.at("sub"), w.url("m/ok"))
		w.true(strings.TrimRight(claims.at("body").String(), "=") == base64.RawURLEncoding.EncodeToString(sum[:]), "body: %v", claims)
		w.true(claims.at("nbf").int() <= time.Now().Unix() && claims.at("exp").int() > time.Now().Unix(), "%v", claims)
	}},
	{"WP-15.9", func(t *testing.T, w *world) { // redaction hides in logs and dead letters, not in deliveries
		id, l := w.fail("bad", "secret", map[string]string{"upstash-redact-fields": "body,header[X-Key]", "upstash-forward-x-key": "hidden", "upstash-forward-x-open": "open"})
		first := w.deliveries(id)[0]
		w.true(string(first.elements[0].Body) == "secret" && first.header.Get("X-Key") == "hidden", "%s %v", first.body, first.header)
		_, logged := w.try("GET", "/v2/workflows/logs?workflowRunId="+id, nil, "")
		_, dead := w.try("GET", "/v2/workflows/dlq/"+l.at("dlqId").String(), nil, "")
		for _, text := range []string{logged, dead} {
			w.true(!strings.Contains(text, `"secret"`) && !strings.Contains(text, `"hidden"`) && strings.Contains(text, `"open"`), "%s", text)
		}
		sum := sha256.Sum256([]byte("secret"))
		out := l.at("steps", 0, "steps", 0, "out").String()
		w.true(strings.HasPrefix(out, "REDACTED:") && len(out) == len("REDACTED:")+2*len(sum) && out != fmt.Sprintf("REDACTED:%x", sum), "out: %s", out)
		again := w.ask(200, "POST", "/v2/workflows/dlq/restart/"+l.at("dlqId").String(), nil, "").at("workflowRunId").String()
		w.true(string(w.delivery(again, 1).elements[0].Body) == "secret", "a restart uses the original")
	}},
	{"WP-15.10", func(t *testing.T, w *world) { // a token for everything but webhooks
		for _, path := range []string{"GET /v2/workflows/logs", "GET /v2/workflows/events", "GET /v2/waiters/x", "POST /v2/notify/x", "POST /v2/wait/x", "GET /v2/workflows/dlq", "DELETE /v2/workflows/runs",
			"POST /v2/workflows/dlq/resume", "POST /v2/trigger/http://x", "GET /v2/workflows/runs/x", "GET /v2/workflows/runs/x/explain", "GET /v2/workflows/runs/x/steps", "GET /v2/workflows/runs/x/steps/0",
			"GET /v2/workflows/runs/x/state", "POST /v2/workflows/runs/x/updates/y"} {
			method, target, _ := strings.Cut(path, " ")
			status, _ := w.try(method, target, map[string]string{"Authorization": "Bearer none"}, "")
			w.true(status == 401, "%s: status %d", path, status)
		}
	}},
	{"WP-15.11", func(t *testing.T, w *world) { // refusals are JSON
		status, text := w.try("GET", "/v2/workflows/logs?state=x", nil, "")
		w.true(status == 400 && w.parse(text).at("error").String() != "", "%d %s", status, text)
	}},
}
