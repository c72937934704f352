package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestPrecedence: a message shows its priority, tenant, weight and cost, its explanation says how it stands among others, and a key and a
// queue list who shares them.
func TestPrecedence(t *testing.T) {
	m := startMail(t)
	to := "/v2/publish/http://sink.example/x"
	m.want(200, "", "POST", "/v2/flowControl/k/pause", "")
	m.want(200, "", "POST", "/v2/queues", `{"queueName":"q","parallelism":1,"paused":true}`)
	publish := func(header ...string) string {
		header = append([]string{"Svc-Flow-Control-Key", "k", "Svc-Flow-Control-Value", "rate=10,burst=4"}, header...)
		return m.object(m.want(200, "", "POST", to, "x", header...))["messageId"].(string)
	}
	for i := range 3 {
		publish("Svc-Tenant", "acme", "Svc-Weight", "3", "Svc-Priority", fmt.Sprint(i))
	}
	last := publish("Svc-Tenant", "globex", "Svc-Cost", "5")
	shown := m.object(m.want(200, "", "GET", "/v2/messages/"+last, ""))
	if shown["tenant"] != "globex" || shown["cost"] != 5.0 || shown["burst"] != 4.0 || shown["priority"] != nil {
		t.Error(shown)
	}
	list := m.object(m.want(200, "", "GET", "/v2/flowControl/k?tenants=true&count=1", ""))
	if list["tenantCount"] != 2.0 || fmt.Sprint(list["tenants"]) != "[map[tenant:acme unfinished:3 waiting:0 weight:3]]" && fmt.Sprint(list["tenants"]) != "[map[tenant:acme unfinished:3 waiting:3 weight:3]]" {
		t.Error(list)
	}
	list = m.object(m.want(200, "", "GET", "/v2/flowControl/k?tenants=true&count=1&cursor="+fmt.Sprint(list["tenantsCursor"]), ""))
	if !strings.Contains(fmt.Sprint(list["tenants"]), "globex") || list["tenantsCursor"] != nil {
		t.Error(list)
	}
	m.want(200, "", "POST", "/v2/flowControl/k/pin?rate=5&period=10&burst=2", "")
	if k := m.object(m.want(200, "", "GET", "/v2/flowControl/k", "")); k["burst"] != 2.0 || k["tokens"] != 2.0 || k["rateMax"] != 5.0 || k["tenants"] != nil {
		t.Error(k)
	}
	queued := func(header ...string) string {
		return m.object(m.want(200, "", "POST", "/v2/enqueue/q/http://sink.example/x", "x", header...))["messageId"].(string)
	}
	low := queued()
	queued("Svc-Priority", "9")
	x, _ := m.object(m.want(200, "", "GET", "/v2/messages/"+low+"?explain=true", ""))["explain"].(map[string]any)
	if x["reason"] != "queue-paused" || x["ahead"] != 1.0 || fmt.Sprint(x["standing"]) == "<nil>" {
		t.Error(x)
	}
	x, _ = m.object(m.want(200, "", "GET", "/v2/messages/"+queued("Svc-Tenant", "acme", "Svc-Weight", "3")+"?explain=true", ""))["explain"].(map[string]any)
	if text := fmt.Sprint(x["text"]); !strings.Contains(text, "its tenant acme has 3 of 4 parts among 2 tenants") {
		t.Error(text)
	}
	for _, bad := range [][]string{{"Svc-Priority", "10"}, {"Svc-Weight", "0"}, {"Svc-Cost", "x"}, {"Svc-Tenant", "a"}, {"Svc-Weight", "5"}} {
		m.want(400, "", "POST", to, "x", bad...)
	}
	for _, bad := range []string{"pin?burst=3", "pin?rate=1&burst=0"} {
		m.want(400, "", "POST", "/v2/flowControl/k/"+bad, "")
	}
}
