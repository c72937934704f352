package scenario

import (
	"context"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// searchConns is the number of connections that search in row 20, and of bleve's goroutines.
const searchConns = 4

// runSearch measures row 20: documents indexed a second, from the first that is sent until all of them are found, and
// searches for a word of their titles a second. bleve is called as a library, without a server, a log or a replica.
func runSearch(ctx context.Context, b *Bench, rows []*report.Row) {
	list := peer.Documents(b.Documents)
	t, err := b.Env.StartNamed(ctx, "search")
	if err != nil {
		for _, row := range rows {
			row.Fail(report.Failed, err)
		}
		return
	}
	defer b.stopping(t)()
	b.noteVersion(ctx, t)
	node := t.Nodes[0]
	ours := side{
		set: oneCall("ours indexing", func(ctx context.Context) (float64, error) { return node.IndexDocuments(ctx, list) }),
		get: b.loading("ours SEARCH.QUERY", b.searching(node.URL)),
	}
	other := b.bleve(list)
	defer other.stop()
	b.rounds(ctx, ours.set, other.set, ours.get, other.get)
	for _, row := range rows {
		if row.Part == "index" {
			compare(row, ours.set, other.set, rate)
		} else {
			compare(row, ours.get, other.get, rate)
		}
		row.Note("%d documents", b.Documents)
	}
}

// searching is the load of searches.
func (b *Bench) searching(url string) load.Spec {
	spec := peer.At(peer.Search(), url)
	spec.Conns = searchConns
	return spec
}

// bleve is an index of bleve's: set indexes all documents, get searches.
func (b *Bench) bleve(list []peer.Document) side {
	index, err := b.Env.NewBleve(list)
	if err != nil {
		return absent("bleve", err)
	}
	return side{
		set:  oneCall("bleve indexing", index.Index),
		get:  oneCall("bleve search", func(ctx context.Context) (float64, error) { return index.Search(ctx, searchConns, b.Duration) }),
		stop: b.stopping(index),
	}
}

// oneCall is a subject whose measurement is one call, which returns things a second.
func oneCall(name string, run func(context.Context) (float64, error)) *subject {
	return &subject{name: name, measure: func(ctx context.Context) (load.Result, error) {
		begin := time.Now()
		perSecond, err := run(ctx)
		return load.Result{Name: name, Commands: perSecond, Seconds: time.Since(begin).Seconds()}, err
	}}
}
