package history

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

func TestSaveAndLoad(t *testing.T) {
	recorder := NewRecorder(time.Now())
	want := []Op{
		{Client: 1, Key: "k", Kind: Write, Value: "a", Outcome: OK, Call: 1, Return: 5},
		{Client: 2, Node: 2, Key: "k", Kind: Read, Outcome: OK, Found: true, Read: "a", Call: 2, Return: 6},
		{Client: 3, Key: "n", Kind: Add, Delta: 3, Outcome: Unknown, Call: 3, Return: Never, Error: "reset"},
	}
	for _, i := range []int{2, 0, 1} {
		recorder.Add(want[i])
	}
	path := filepath.Join(t.TempDir(), "deep", "history.jsonl")
	if err := Save(path, recorder.Ops()); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %v\nwant %v", got, want)
	}
	if keys := ByKey(got); len(keys["k"]) != 2 || len(keys["n"]) != 1 {
		t.Fatalf("split by key: %v", keys)
	}
}
