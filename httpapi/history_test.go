package httpapi_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/node/samples"
	"github.com/trireme-dev/trireme/node/stats"
)

// ofThree is a cluster of which one node is not reached.
type ofThree struct{ admin }

func (*ofThree) History(context.Context) samples.Cluster {
	of := func(requests float64) samples.Columns {
		return samples.Columns{EverySeconds: 5, Time: []int64{5000}, Requests: []float64{requests}, P99: []float64{requests}}
	}
	return samples.Merge([]samples.Named{{Node: "n1", Columns: of(2)}, {Node: "n2", Columns: of(3)}}, []samples.Missing{{Node: "n3", Why: "it is not reached"}})
}

// TestHistoryOfNodeAndCluster: a node answers with its own history unless it is asked for all nodes; then it names the nodes
// whose figures it has and those whose figures are missing.
func TestHistoryOfNodeAndCluster(t *testing.T) {
	own := samples.New(prometheus.NewRegistry(), &stats.Node{})
	for deadline := time.Now().Add(time.Minute); len(own.Read().Time) == 0; own.Take() { // rates need time between two samples
		if time.Now().After(deadline) {
			t.Fatal("no sample was taken")
		}
	}
	g := newGateway(t, func(o *httpapi.Options) { o.Admin, o.History = &ofThree{}, own })
	type reply struct {
		Time     []int64
		Requests []float64
		P99      []float64 `json:"p99Ms"`
		Nodes    []string
		Missing  []samples.Missing
	}
	ask := func(query string) (r reply) {
		got := g.ask(t, "GET", "/admin/history"+query, "", asAdmin)
		if err := json.Unmarshal([]byte(got.body), &r); got.status != 200 || err != nil {
			t.Fatalf("%s: %d %s, %v", query, got.status, got.body, err)
		}
		return r
	}
	for _, query := range []string{"", "?of=", "?of=node"} {
		if r := ask(query); len(r.Time) != len(own.Read().Time) || len(r.Time) == 0 || r.Time[0] == 5000 || r.Nodes != nil || r.Missing != nil {
			t.Errorf("%q answers %+v", query, r)
		}
	}
	r := ask("?of=cluster")
	if !slices.Equal(r.Time, []int64{5000}) || !slices.Equal(r.Requests, []float64{5}) || !slices.Equal(r.P99, []float64{3}) {
		t.Errorf("requests of two nodes add up to %+v", r)
	}
	if !slices.Equal(r.Nodes, []string{"n1", "n2"}) || !slices.Equal(r.Missing, []samples.Missing{{Node: "n3", Why: "it is not reached"}}) {
		t.Errorf("the figures are of %v, not of %v", r.Nodes, r.Missing)
	}
	for _, query := range []string{"?of=clusters", "?of=n1", "?of=Cluster", "?of=%22"} {
		if got := g.ask(t, "GET", "/admin/history"+query, "", asAdmin); got.status != 400 || got.header.Get("Svc-Outcome") != "not-applied" {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	if got := g.ask(t, "GET", "/admin/history?of=cluster", "", "Authorization: Bearer "+httpapitest.Token); got.status != 403 {
		t.Errorf("a data token: %d %s", got.status, got.body)
	}
	if got := newGateway(t, func(o *httpapi.Options) { o.Admin = &ofThree{} }).ask(t, "GET", "/admin/history?of=cluster", "", asAdmin); got.status != 404 {
		t.Errorf("a server without history: %d %s", got.status, got.body)
	}
}
