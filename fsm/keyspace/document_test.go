package keyspace

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
)

// largeDocument is a document with containers in trees and in lists.
func largeDocument(t *testing.T) *Document {
	var b strings.Builder
	b.WriteString(`{"small":{"a":1,"l":[1,2]},"list":[`)
	for i := range 1000 {
		fmt.Fprintf(&b, `{"n":%d},`, i)
	}
	b.WriteString(`0],"map":{`)
	for i := range 1000 {
		fmt.Fprintf(&b, `"k%d":[%d],`, i, i)
	}
	b.WriteString(`"last":null}}`)
	v, err := jsondoc.Parse([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return NewDocument(v)
}

// TestDocumentsFork changes a document while a fork of the keyspace is saved beside it:
// the race detector sees whatever the two still share.
func TestDocumentsFork(t *testing.T) {
	db := New()
	key := []byte("doc")
	db.PutContainer(entry(1, 1), key, largeDocument(t), 0)
	db.Copy(entry(1, 1), db.Find(entry(1, 1), key), []byte("copy"))
	paths := []string{"$.small.a", "$.list[500].n", "$.map.k7[0]", "$..n", "$.map.*[0]"}
	for i := range 10 {
		fork, want := db.Fork(), records(t, db)
		saved := make(chan [][]byte)
		go func() { saved <- records(t, fork) }()
		e := entry(uint64(i+2), 1)
		d := db.Mutable(e, key, db.Find(e, key)).(*Document)
		before := d.Size()
		p, err := jsondoc.ParsePath(paths[i%len(paths)])
		if err != nil {
			t.Fatal(err)
		}
		found, err := jsondoc.Find(d.Root(), p, jsondoc.NewWork())
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d places, %v", p.Text, len(found), err)
		}
		for _, m := range found {
			d.Replace(m, jsondoc.String(fmt.Sprint("changed ", i)))
		}
		db.Changed(e, key, before)
		if got := <-saved; !equal(got, want) {
			t.Fatalf("change %d at %s shows in a fork", i, p.Text)
		}
		checkWhole(t, db)
	}
}

// TestDocumentRecords reads damaged records of a document.
func TestDocumentRecords(t *testing.T) {
	db := New()
	db.PutContainer(entry(1, 1), []byte("k"), largeDocument(t), 5)
	record := records(t, db)[0]
	if _, err := load([][]byte{append(bytes.Clone(record), 0)}); err == nil {
		t.Fatal("a record with more behind it was taken")
	}
	again, err := load([][]byte{record})
	if err != nil || again.Used() != db.Used() || !equal(records(t, again), records(t, db)) {
		t.Fatalf("not read back: %v", err)
	}
	for i := 0; i < len(record); i += 1 + i/10 {
		if _, err := load([][]byte{record[:i]}); err == nil {
			t.Fatalf("a record cut at %d of %d was taken", i, len(record))
		}
	}
}
