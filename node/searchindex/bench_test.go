package searchindex

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/search"
)

// benchWords is a vocabulary whose words are drawn by Zipf's law.
func benchWords() func(r *rand.Rand, n int) string {
	r := rand.New(rand.NewSource(1))
	list := make([]string, 20_000)
	for i := range list {
		b := make([]byte, 4+r.Intn(6))
		for j := range b {
			b[j] = byte('a' + r.Intn(26))
		}
		list[i] = string(b)
	}
	return func(r *rand.Rand, n int) string {
		z := rand.NewZipf(r, 1.1, 4, uint64(len(list)-1))
		var b strings.Builder
		for range n {
			b.WriteString(list[z.Uint64()] + " ")
		}
		return b.String()
	}
}

func benchIndex(n int) (*index, func(r *rand.Rand, n int) string) {
	text := benchWords()
	x := newIndex(&search.Definition{Language: "english", Schema: []search.Field{{Name: "title", Type: search.Text}, {Name: "body", Type: search.Text}, {Name: "price", Type: search.F64, Fast: true}, {Name: "name", Type: search.Keyword}}}, nil)
	r := rand.New(rand.NewSource(2))
	for i := range n {
		x.put(&document{name: fmt.Sprint("doc:", i), fields: []values{{texts: []string{text(r, 8)}}, {texts: []string{text(r, 40)}}, {numbers: []uint64{orderedFloat(float64(r.Intn(1000)))}}, {texts: []string{fmt.Sprint("name:", i)}}}})
	}
	return x, text
}

// BenchmarkPut takes in documents with a title of 8 words, a body of 40 and a number.
func BenchmarkPut(b *testing.B) {
	b.ReportAllocs()
	benchIndex(b.N)
}

// BenchmarkQuery looks for one word of the title among 50,000 documents.
func BenchmarkQuery(b *testing.B) {
	x, text := benchIndex(50_000)
	for _, kind := range []string{"$eq", "$fuzzy", "$smart"} {
		b.Run(kind[1:], func(b *testing.B) {
			r := rand.New(rand.NewSource(3))
			for b.Loop() {
				q := search.Query{Filter: []byte(`{"title":{"` + kind + `":"` + text(r, 1) + `"}}`), Limit: 10}
				if _, err := x.query(&q, env.At(0), unlimited()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
