package searchindex

import (
	"fmt"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"math/rand"
	"runtime"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/search"
)

// shapes are indexes that take memory in different ways: the fields, and the values of document i.
var shapes = map[string]struct {
	fields string // of FieldType and options, see schemaOf
	docs   int
	values func(i int) []values
}{
	"no documents":        {strings.Repeat("t", 100), 0, nil},
	"fields without text": {strings.Repeat("t", 100), 500, func(i int) []values { return append([]values{oneText("x")}, make([]values, 99)...) }},
	"same words":          {"t", 1000, func(i int) []values { return []values{oneText(words64("w", i%7, 64))} }},
	"own words":           {"t", 150, func(i int) []values { return []values{oneText(words64("w", 64*i, 64))} }},
	"long words":          {"t", 150, func(i int) []values { return []values{oneText(words64(strings.Repeat("w", 30), 64*i, 64))} }},
	"short texts":         {"t", 8000, func(i int) []values { return []values{oneText(fmt.Sprint("a b ", i%100))} }},
	"values":              {"k", 8000, func(i int) []values { return []values{oneText(fmt.Sprintf("value:%d", i))} }},
	"long values":         {"k", 200, func(i int) []values { return []values{oneText(strings.Repeat(fmt.Sprint(i), 2000))} }},
	"few values":          {"k", 8000, func(i int) []values { return []values{oneText(fmt.Sprint(i % 5))} }},
	"several values":      {"k", 800, func(i int) []values { return []values{{texts: strings.Fields(words64("v", i, 20))}} }},
	"paths":               {"f", 2000, func(i int) []values { return []values{oneText(fmt.Sprintf("/a%d/b%d/c%d", i%10, i%100, i))} }},
	"own numbers":         {"n", 8000, func(i int) []values { return []values{{numbers: []uint64{uint64(i)}}} }},
	"few numbers":         {"n", 8000, func(i int) []values { return []values{{numbers: []uint64{uint64(i % 5)}}} }},
	"lists of numbers":    {"n", 800, func(i int) []values { return []values{{numbers: randomNumbers(i, 20)}} }},
	"deadlines":           {"n", 8000, func(i int) []values { return []values{{numbers: []uint64{uint64(i % 5)}}} }},
}

func oneText(s string) values { return values{texts: []string{s}} }

func words64(stem string, from, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s%d ", stem, from+i)
	}
	return b.String()
}

func randomNumbers(seed, n int) (list []uint64) {
	r := rand.New(rand.NewSource(int64(seed)))
	for range n {
		list = append(list, uint64(r.Intn(1_000_000)))
	}
	return list
}

func schemaOf(fields string) *search.Definition {
	d := &search.Definition{Name: "i", Language: "english"}
	for i, kind := range fields {
		d.Schema = append(d.Schema, search.Field{Name: fmt.Sprint("f", i), Type: map[rune]search.FieldType{'t': search.Text, 'k': search.Keyword, 'f': search.Facet, 'n': search.U64}[kind], Fast: kind == 'n'})
	}
	return d
}

// heap returns the bytes of the heap in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestEstimateOfMemory compares what an index says that it takes with the heap, for every kind of field and of value: it is within a
// factor of two.
func TestEstimateOfMemory(t *testing.T) {
	const indexes = 2
	for name, shape := range shapes { // unordered: independent cases
		d := schemaOf(shape.fields)
		n := 1
		if shape.docs == 0 {
			n = 20
		}
		before, estimate := heap(), int64(0)
		kept := make([]*index, 0, indexes*n)
		for range n * indexes {
			x := newIndex(d, nil)
			for i := range shape.docs {
				doc := &document{name: fmt.Sprint("doc:", i), fields: shape.values(i)}
				if name == "deadlines" {
					doc.gone = keyspace.Deadline(1000 + i)
				}
				x.put(doc)
			}
			kept, estimate = append(kept, x), estimate+x.bytes
		}
		taken := heap() - before
		t.Logf("%-20s %8d KiB, estimate %8d KiB: %.2f", name, taken>>10, estimate>>10, float64(estimate)/float64(taken))
		if estimate*2 < taken || estimate > 2*taken {
			t.Errorf("%s: %d bytes of the heap, the estimate is %d", name, taken, estimate)
		}
		runtime.KeepAlive(kept)
	}
}
