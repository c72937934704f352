package importer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/trireme-dev/trireme/cli/importer"
	"github.com/trireme-dev/trireme/fsm/rdb"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// TestExport brings keys of all types from a redis-server here, and back into another one that loads the file.
func TestExport(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	redis := startRedis(t, from)
	fillAll(t, redis)
	must(t, redis, "SAVE")
	want := content(t, redis.Do)
	file, err := os.ReadFile(filepath.Join(from, "dump.rdb"))
	if err != nil {
		t.Fatal(err)
	}
	e, o := node(t)
	if report, err := importer.Run(context.Background(), bytes.NewReader(file), o); err != nil || report.Failed() > 0 {
		t.Fatalf("%v: %+v", err, report)
	}
	execute(t, e, "JSON.SET", "document", "$", `{"a":1}`)
	execute(t, e, "HSET", "dated", "a", "1", "b", "2")
	execute(t, e, "HEXPIRE", "dated", "100000", "FIELDS", "1", "a")

	var out bytes.Buffer
	written, err := e.Machine.Fork().Export(&out, "default", rdb.Target{}, "test")
	if err != nil {
		t.Fatal(err)
	}
	if w := (rdb.Written{Keys: int64(len(want)) + 1, Functions: 1, LeftOut: 1, Undated: 1, Bytes: int64(out.Len())}); written != w {
		t.Errorf("%+v, want %+v", written, w)
	}
	if err := os.WriteFile(filepath.Join(to, "dump.rdb"), out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	second := startRedis(t, to)
	got := content(t, second.Do)
	want["dated"] = got["dated"] // which the first one never had
	compare(t, got, want)
	if v := must(t, second, "HGET", "dated", "a"); v.Text() != "1" {
		t.Errorf("a field without its deadline is %q", v.Text())
	}
	if v := must(t, second, "FCALL", "answer", "0"); v.Int() != 42 {
		t.Errorf("a function of the file answers %d", v.Int())
	}
	if a, b := must(t, redis, "DBSIZE").Int()+1, must(t, second, "DBSIZE").Int(); a != b {
		t.Errorf("%d keys, want %d", b, a)
	}
}

// TestExportOfEverything keeps what only newer servers and modules know, and is read again here.
func TestExportOfEverything(t *testing.T) {
	e, _ := node(t)
	execute(t, e, "JSON.SET", "document", "$", `{"a":1}`)
	execute(t, e, "HSET", "dated", "a", "1", "b", "2")
	execute(t, e, "HPEXPIREAT", "dated", "4102444800000", "FIELDS", "1", "a")
	execute(t, e, "HSET", "gone", "a", "1")
	for i := range 40_000 { // more than is gathered at a time
		execute(t, e, "SET", fmt.Sprint("key:", i), fmt.Sprint("value ", i))
	}
	var out bytes.Buffer
	written, err := e.Machine.Fork().Export(&out, "default", rdb.Target{FieldDeadlines: true, Modules: true}, "test")
	if err != nil || written.Keys != 40_003 || written.LeftOut+written.Undated != 0 {
		t.Fatalf("%+v, %v", written, err)
	}
	again, o := node(t)
	report, err := importer.Run(context.Background(), &out, o)
	if err != nil || report.Failed() > 0 || report.Keys != 40_003 {
		t.Fatalf("%v: %+v", err, report)
	}
	if v, err := again.Exec("JSON.GET", "document"); err != nil || v.Text() != `{"a":1}` {
		t.Errorf("%s, %v", v.Text(), err)
	}
	if v, err := again.Exec("HPEXPIRETIME", "dated", "FIELDS", "1", "a"); err != nil || v.Elems()[0].Int() != 4102444800000 {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := e.Machine.Fork().Export(io.Discard, "none", rdb.Target{}, "test"); err == nil {
		t.Error("a database that is not there was exported")
	}
	broken := errors.New("disk full")
	if _, err := e.Machine.Fork().Export(failing{broken}, "default", rdb.Target{}, "test"); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}

// failing is a writer on a full disk.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func execute(t *testing.T, e *httpapitest.Engine, words ...string) {
	t.Helper()
	if v, err := e.Exec(words...); err != nil || v.IsError() {
		t.Fatalf("%q: %s, %v", words, v.Text(), err)
	}
}
