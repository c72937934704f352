package scenario

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// Of row 19: the dimensions of a vector, how many neighbours a query wants, how many different queries there are, and the
// connections, as many as goroutines of the flat scan.
const (
	vectorDim     = 384
	vectorTop     = 10
	vectorQueries = 64
	vectorConns   = 2
)

// runVectors measures row 19: searches for the nearest of b.Vectors vectors by a node, and by a scan in this process.
func runVectors(ctx context.Context, b *Bench, rows []*report.Row) {
	random := rand.New(rand.NewPCG(19, 19))
	all, queries := newFlat(random, b.Vectors), newFlat(random, vectorQueries)
	node, bodies, err := b.vectorNode(ctx, all, queries)
	if err != nil {
		for _, row := range rows {
			row.Fail(report.Failed, err)
		}
		return
	}
	defer b.stopping(node)()
	ours := b.asking("ours VECTOR.QUERY", node.Nodes[0], bodies)
	scan := b.looping("flat scan", vectorConns, func() (caller, func(), error) {
		return func(n int) error {
			all.nearest(queries.row(n%vectorQueries), vectorTop)
			return nil
		}, func() {}, nil
	})
	for _, row := range rows {
		if row.Part == "recall" {
			recall(row, node.Nodes[0], bodies, all, queries)
			continue
		}
		b.rounds(ctx, ours, scan)
		compare(row, ours, scan, rate)
	}
	for _, row := range rows {
		row.Note("%d vectors", b.Vectors)
	}
}

// vectorNode starts a node with the vectors, and returns the bodies of the queries.
func (b *Bench) vectorNode(ctx context.Context, all, queries *flat) (*peer.Trireme, []string, error) {
	t, err := b.Env.StartNamed(ctx, "vectors")
	if err != nil {
		return nil, nil, err
	}
	b.noteVersion(ctx, t)
	b.Log("  loading %d vectors", b.Vectors)
	if err := t.Nodes[0].LoadVectors(ctx, vectorDim, b.Vectors, all.blob); err != nil {
		return nil, nil, errors.Join(err, t.Stop())
	}
	bodies := make([]string, vectorQueries)
	for i := range bodies {
		bodies[i] = peer.NearestBody(vectorTop, base64.StdEncoding.EncodeToString(queries.blob(i)))
	}
	return t, bodies, nil
}

// asking is a subject that sends the bodies in turns over vectorConns connections and reads what was found.
func (b *Bench) asking(name string, n *peer.Node, bodies []string) *subject {
	return b.looping(name, vectorConns, func() (caller, func(), error) {
		c, err := n.Dial()
		if err != nil {
			return nil, nil, err
		}
		return func(n int) error {
			_, err := peer.Nearest(c, bodies[n%len(bodies)])
			return err
		}, func() { c.Close() }, nil
	})
}

// recall fills a row with how many percent of the neighbours that the scan finds the node finds too.
func recall(row *report.Row, n *peer.Node, bodies []string, all, queries *flat) {
	c, err := n.Dial()
	if err != nil {
		row.Fail(report.Failed, err)
		return
	}
	defer c.Close()
	found, wanted := 0, 0
	for i, body := range bodies {
		got, err := peer.Nearest(c, body)
		if err != nil {
			row.Fail(report.Failed, err)
			return
		}
		for _, id := range all.nearest(queries.row(i), vectorTop) {
			wanted++
			if slices.Contains(got, id) {
				found++
			}
		}
	}
	row.Add(100*float64(found)/float64(wanted), 0)
	row.Judge()
}

// flat is vectors one after the other, and of each the inverse of its length: what a program without an index has.
type flat struct{ elems, scale []float32 }

// newFlat draws n vectors.
func newFlat(r *rand.Rand, n int) *flat {
	f := &flat{elems: make([]float32, n*vectorDim), scale: make([]float32, n)}
	for i := range f.elems {
		f.elems[i] = float32(r.NormFloat64())
	}
	for i := range f.scale {
		f.scale[i] = float32(1 / math.Sqrt(float64(product(f.row(i), f.row(i)))))
	}
	return f
}

func (f *flat) row(i int) []float32 { return f.elems[i*vectorDim:][:vectorDim:vectorDim] }

// blob is a vector's elements as little-endian floats.
func (f *flat) blob(i int) []byte {
	b := make([]byte, 0, 4*vectorDim)
	for _, x := range f.row(i) {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// nearest are the numbers of the top vectors nearest to q under the cosine, the nearest first.
func (f *flat) nearest(q []float32, top int) []int {
	ids, scores := make([]int, 0, top+1), make([]float32, 0, top+1)
	for i := range f.scale {
		score := product(q, f.row(i)) * f.scale[i]
		if len(ids) == top && score <= scores[top-1] {
			continue
		}
		at := len(ids)
		for at > 0 && scores[at-1] < score {
			at--
		}
		ids, scores = slices.Insert(ids, at, i), slices.Insert(scores, at, score)
		ids, scores = ids[:min(len(ids), top)], scores[:min(len(scores), top)]
	}
	return ids
}

// product is the scalar product, in four sums so that additions need not wait for each other.
func product(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	for len(a) >= 4 && len(b) >= 4 {
		x, y := (*[4]float32)(a), (*[4]float32)(b)
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		a, b = a[4:], b[4:]
	}
	return s0 + s1 + s2 + s3
}
