package importer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cli/importer"
	"github.com/trireme-dev/trireme/cli/importer/redisproc"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/rdb"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// startRedis runs a redis-server, or skips the test where there is none; with
// TRIREME_FIDELITY=required that fails it.
func startRedis(t *testing.T, dir string) *redisproc.Server {
	t.Helper()
	s, err := redisproc.Start(dir)
	switch {
	case errors.Is(err, redisproc.ErrMissing) && os.Getenv("TRIREME_FIDELITY") != "required":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func must(t *testing.T, s *redisproc.Server, words ...string) reply.Value {
	t.Helper()
	v, err := s.Do(words...)
	if err != nil || v.IsError() {
		t.Fatalf("%q: %s, %v", words[0], v.Text(), err)
	}
	return v
}

// node is a node of its own with its state at hand.
func node(t *testing.T) (*httpapitest.Engine, importer.Options) {
	t.Helper()
	e := httpapitest.New()
	addr := httpapitest.Serve(t, httpapi.Options{Engine: e})
	return e, importer.Options{URL: "http://" + addr, Token: httpapitest.Token}
}

// fillAll makes keys of all types and forms.
func fillAll(t *testing.T, s *redisproc.Server) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return string(b)
	}
	for i, text := range []string{"", "12", "-40000", "2000000000", "9223372036854775807", strings.Repeat("long ", 5000), noise(3000), "\"\\\n\x00\x7f\xff"} {
		must(t, s, "SET", fmt.Sprint("string:", i), text)
	}
	must(t, s, "SET", "odd \xff\"\\\x01 key", "v")
	must(t, s, "SET", "with:ttl", "v", "PXAT", "4102444800000")
	must(t, s, "SET", "gone", "v", "PX", "1")
	must(t, s, "FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function{function_name='answer', callback=function() return 42 end, flags={'no-writes'}}")
	for _, n := range []int{1, 50, 700} {
		for i := range n {
			element := fmt.Sprint(i)
			if n == 50 {
				element = noise(1 + r.IntN(50))
			}
			must(t, s, "RPUSH", fmt.Sprint("list:", n), element, strings.Repeat("z", i*20))
			must(t, s, "SADD", fmt.Sprint("set:", n), element)
			must(t, s, "SADD", fmt.Sprint("ints:", n), fmt.Sprint(i*i*i*i))
			must(t, s, "HSET", fmt.Sprint("hash:", n), element, noise(i%80))
			must(t, s, "ZADD", fmt.Sprint("zset:", n), fmt.Sprint(float64(i)/3), element)
			must(t, s, "PFADD", fmt.Sprint("sketch:", n), element)
		}
	}
	for i := range 400 {
		must(t, s, "XADD", "stream", fmt.Sprint(i+1, "-1"), "f", fmt.Sprint(i), "g", noise(i%50))
	}
	must(t, s, "XGROUP", "CREATE", "stream", "readers", "0")
	must(t, s, "XREADGROUP", "GROUP", "readers", "one", "COUNT", "100", "STREAMS", "stream", ">")
	must(t, s, "XACK", "stream", "readers", "7-1", "9-1")
	must(t, s, "XDEL", "stream", "7-1", "300-1", "400-1")
	must(t, s, "ZADD", "zset:odd", "inf", "a", "-inf", "b", "0", "c")
	must(t, s, "SETBIT", "bits", "100000", "1")
	must(t, s, "GEOADD", "geo", "13.361389", "38.115556", "Palermo")
}

// reads holds, by type, the command that reads a whole value.
var reads = map[string][]string{
	"string": {"GET", "k"}, "list": {"LRANGE", "k", "0", "-1"}, "set": {"SMEMBERS", "k"}, "zset": {"ZRANGE", "k", "0", "-1", "WITHSCORES"}, "hash": {"HGETALL", "k"},
	"stream": {"XRANGE", "k", "-", "+"},
}

// content returns the values of a server by key.
func content(t *testing.T, do func(words ...string) (reply.Value, error)) map[string]string {
	t.Helper()
	ask := func(words ...string) reply.Value {
		v, err := do(words...)
		if err != nil || v.IsError() {
			t.Fatalf("%q: %s, %v", words, v.Text(), err)
		}
		return v
	}
	all := map[string]string{}
	for _, k := range ask("KEYS", "*").Elems() {
		kind := ask("TYPE", k.Text()).Text()
		words := slices.Clone(reads[kind])
		words[1] = k.Text()
		v := ask(words...)
		if kind == "set" || kind == "hash" {
			v = scripttest.Sorted(v)
		}
		if kind == "stream" {
			kind += scripttest.Print(ask("XPENDING", k.Text(), "readers")) + scripttest.Print(ask("XINFO", "GROUPS", k.Text()))
		}
		all[k.Text()] = kind + " " + scripttest.Print(v) + " until " + scripttest.Print(ask("PEXPIRETIME", k.Text()))
	}
	return all
}

func compare(t *testing.T, got, want map[string]string) {
	t.Helper()
	for k, w := range want {
		if got[k] != w {
			t.Errorf("%q is %.200q, want %.200q", k, got[k], w)
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			t.Errorf("%q was not in the file", k)
		}
	}
}

// TestImport brings in what a redis-server wrote, in whole values and in parts.
func TestImport(t *testing.T) {
	dir := t.TempDir()
	redis := startRedis(t, dir)
	fillAll(t, redis)
	must(t, redis, "SAVE")
	want := content(t, redis.Do)
	must(t, redis, "SELECT", "3")
	must(t, redis, "SET", "elsewhere", "v")
	must(t, redis, "SAVE")
	file, err := os.ReadFile(filepath.Join(dir, "dump.rdb"))
	if err != nil {
		t.Fatal(err)
	}
	for name, adjust := range map[string]func(*importer.Options){
		"at once":  func(*importer.Options) {},
		"singly":   func(o *importer.Options) { o.Rows, o.Workers = 1, 2 },
		"in parts": func(o *importer.Options) { o.MaxRequest, o.Bytes = 20_000, 500 },
	} {
		t.Run(name, func(t *testing.T) {
			e, o := node(t)
			adjust(&o)
			report, err := importer.Run(context.Background(), bytes.NewReader(file), o)
			if err != nil || report.Failed() > 0 {
				t.Fatalf("%v: %+v", err, report)
			}
			compare(t, content(t, e.Exec), want)
			if v, err := e.Exec("FCALL", "answer", "0"); err != nil || v.Int() != 42 || report.Libraries != 1 {
				t.Errorf("a function of the file answers %d %s, %v", v.Int(), v.Text(), err)
			}
			if report.Keys != int64(len(want)) || report.Done != report.Keys+report.Expired || report.OtherDatabases[3] != 1 {
				t.Errorf("%+v", report)
			}
			again, err := importer.Run(context.Background(), bytes.NewReader(file), o)
			if err != nil || again.Keys != 0 || again.Kept != report.Keys+report.Libraries {
				t.Errorf("a second run: %v, %+v", err, again)
			}
			if _, err := e.Exec("SET", "string:0", "changed"); err != nil {
				t.Fatal(err)
			}
			o.Replace = true
			again, err = importer.Run(context.Background(), bytes.NewReader(file), o)
			if err != nil || again.Keys != report.Keys {
				t.Errorf("a third run, which replaces: %v, %+v", err, again)
			}
			compare(t, content(t, e.Exec), want)
		})
	}
	t.Run("another database", func(t *testing.T) {
		e, o := node(t)
		o.From = 3
		report, err := importer.Run(context.Background(), bytes.NewReader(file), o)
		if err != nil || report.Keys != 1 || report.OtherDatabases[0] != int64(len(want)) {
			t.Errorf("%v: %+v", err, report)
		}
		compare(t, content(t, e.Exec), map[string]string{"elsewhere": `string "v" until (integer) -1`})
	})
	t.Run("damaged", func(t *testing.T) {
		for _, at := range []int{3, len(file) / 2, len(file) - 1} {
			bad := bytes.Clone(file)
			bad[at] ^= 0x10
			_, o := node(t)
			if report, err := importer.Run(context.Background(), bytes.NewReader(bad), o); err == nil && report.Failed() == 0 {
				t.Errorf("byte %d of %d changed, and nobody saw it", at, len(file))
			}
			if _, err := importer.Run(context.Background(), bytes.NewReader(file[:at]), o); !errors.Is(err, rdb.ErrFormat) {
				t.Errorf("cut at %d: %v", at, err)
			}
		}
	})
}

// strings makes a file of so many strings.
func stringsFile(n int) []byte {
	b := []byte("REDIS0010")
	for i := range n {
		k := fmt.Sprint("key:", i)
		b = append(append(append(b, 0, byte(len(k))), k...), 1, 'v')
	}
	b = append(b, 255)
	return append(b, make([]byte, 8)...) // no checksum
}

// counting calls then at one of the requests.
type counting struct {
	n    atomic.Int64
	at   int64
	then func()
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.n.Add(1) == c.at {
		c.then()
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestResumeWithSkip stops an import on its way, and goes on where it was.
func TestResumeWithSkip(t *testing.T) {
	const keys = 5000
	e, o := node(t)
	o.Rows, o.Workers = 100, 3
	ctx, stop := context.WithCancel(context.Background())
	o.Client = &http.Client{Transport: &counting{at: 20, then: stop}}
	report, err := importer.Run(ctx, bytes.NewReader(stringsFile(keys)), o)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if report.Done > report.Keys || report.Done%100 != 0 {
		t.Errorf("%d keys imported, %d done from the first on", report.Keys, report.Done)
	}
	o.Skip, o.Client = report.Done, nil
	again, err := importer.Run(context.Background(), bytes.NewReader(stringsFile(keys)), o)
	if err != nil || again.Skipped != report.Done || again.Done != keys {
		t.Errorf("%v: %+v", err, again)
	}
	if v, err := e.Exec("DBSIZE"); err != nil || v.Int() != keys {
		t.Errorf("%d keys: %v", v.Int(), err)
	}
}

// flaky refuses every third request, and answers every third one that it has passed on
// as if it had not.
type flaky struct {
	next http.RoundTripper
	n    atomic.Int64
}

func (f *flaky) RoundTrip(r *http.Request) (*http.Response, error) {
	switch f.n.Add(1) % 3 {
	case 0:
		return nil, errors.New("the network is down")
	case 1:
		resp, err := f.next.RoundTrip(r)
		if err == nil {
			resp.Body.Close()
		}
		return nil, errors.New("the connection ended")
	}
	return f.next.RoundTrip(r)
}

// TestRequestsAreRetried loses answers: every key is counted as imported, and imported once.
func TestRequestsAreRetried(t *testing.T) {
	e, o := node(t)
	o.Rows, o.Workers, o.Client = 50, 2, &http.Client{Transport: &flaky{next: http.DefaultTransport}}
	report, err := importer.Run(context.Background(), bytes.NewReader(stringsFile(500)), o)
	if err != nil || report.Keys != 500 || report.Kept != 0 {
		t.Errorf("%v: %+v", err, report)
	}
	if v, err := e.Exec("DBSIZE"); err != nil || v.Int() != 500 {
		t.Errorf("%d keys: %v", v.Int(), err)
	}
}

func TestRefused(t *testing.T) {
	_, o := node(t)
	o.Token = httpapitest.ReadOnlyToken
	if _, err := importer.Run(context.Background(), bytes.NewReader(stringsFile(5)), o); !errors.Is(err, importer.ErrRefused) {
		t.Errorf("with a token that only reads: %v", err)
	}
	o.Token = "wrong"
	if _, err := importer.Run(context.Background(), bytes.NewReader(stringsFile(5)), o); !errors.Is(err, importer.ErrRefused) {
		t.Errorf("with a wrong token: %v", err)
	}
	o.URL, o.Patience = "http://127.0.0.1:1", 300*time.Millisecond
	if _, err := importer.Run(context.Background(), bytes.NewReader(stringsFile(5)), o); !errors.Is(err, importer.ErrUnreachable) {
		t.Errorf("without a node: %v", err)
	}
}

// TestRefusedKeysAreReported has values in the file that no database can take: each is reported with
// its key, and the others are imported.
func TestRefusedKeysAreReported(t *testing.T) {
	b := []byte("REDIS0010")
	b = append(b, "\xfa\x09redis-ver\x067.0.15\xfe\x00\xfb\x04\x00"...)
	b = append(b, "\x00\x04good\x01v"...)
	b = append(b, "\x02\x04same\x02\x01a\x01a"...)                                        // a set that repeats a member
	b = append(b, "\x07\x06module\x81\x00\x11\x22\x33\x44\x55\x66\x77"+"\x02\x05\x00"...) // of a module that isn't known
	b = append(b, "\xfc\x00\x00\x00\x00\x00\x00\x00\x01\x00\x02at\x01v"...)
	b = append(b, "\xfd\x01\x00\x00\x00\xf8\x05\xf9\x07\x00\x04past\x01v"...)
	b = append(append(b, 255), make([]byte, 8)...)
	e, o := node(t)
	report, err := importer.Run(context.Background(), bytes.NewReader(b), o)
	if err != nil {
		t.Fatal(err)
	}
	if report.Keys != 2 || report.Expired != 1 || report.ServerVersion != "7.0.15" || len(report.Failures) != 1 ||
		report.Failures[0].Count != 2 || fmt.Sprint(report.Failures[0].Examples) != "[same module]" {
		t.Errorf("%+v", report)
	}
	if v, err := e.Exec("PEXPIRETIME", "at"); err != nil || v.Int() != 1<<56 {
		t.Errorf("a deadline far away: %d, %v", v.Int(), err)
	}
	var text strings.Builder
	if err := report.Write(&text); err != nil || !strings.Contains(text.String(), `2 not imported: ERR Bad data format; such as ["same" "module"]`) {
		t.Errorf("%v:\n%s", err, text.String())
	}
	if _, err := json.Marshal(report); err != nil {
		t.Error(err)
	}
	o.MaxValue = 10
	large := append([]byte("REDIS0010\x00\x01k\x20"), strings.Repeat("x", 32)...)
	large = append(append(append(large, "\x00\x01l\x01v"...), 255), make([]byte, 8)...)
	report, err = importer.Run(context.Background(), bytes.NewReader(large), o)
	if err != nil || report.Keys != 1 || report.Failed() != 1 {
		t.Errorf("a value too large: %v, %+v", err, report)
	}
}

// TestNewerForms brings in what Redis 7.0 doesn't have, from a file made of dumps.
func TestNewerForms(t *testing.T) {
	from, _ := node(t)
	for _, line := range []string{
		"HSET k:hash a 1 b 2 c 3", "HPEXPIREAT k:hash 4102444800000 FIELDS 2 a b", `JSON.SET k:json $ {"a":[1,2.5,"x"]}`,
		"XADD k:stream 5-1 f v", "XADD k:stream 6-1 f v g w", "XGROUP CREATE k:stream g 5-1 ENTRIESREAD 1", "SET k:string text",
	} {
		if v, err := from.Exec(strings.Fields(line)...); err != nil || v.IsError() {
			t.Fatalf("%s: %s, %v", line, v.Text(), err)
		}
	}
	names, file := []string{"k:hash", "k:json", "k:stream", "k:string"}, []byte("REDIS0012")
	dumps := map[string]string{}
	for _, name := range names {
		v, err := from.Exec("DUMP", name)
		if err != nil {
			t.Fatal(err)
		}
		dumps[name] = v.Text()
		body := v.Text()[:len(v.Text())-10]
		file = append(append(append(append(file, body[0]), byte(len(name))), name...), body[1:]...)
	}
	file = append(append(file, 255), make([]byte, 8)...)
	for _, largest := range []int{0, 130} { // whole, and in parts but for documents
		e, o := node(t)
		o.MaxRequest = largest
		report, err := importer.Run(context.Background(), bytes.NewReader(file), o)
		if err != nil || report.Failed() > 1 || largest == 0 && report.Failed() > 0 {
			t.Fatalf("%v: %+v", err, report)
		}
		for _, name := range names {
			if v, err := e.Exec("DUMP", name); err != nil || v.Text() != dumps[name] && (largest == 0 || name != "k:json") {
				t.Errorf("requests of %d bytes: %s is %q, want %q", largest, name, v.Text(), dumps[name])
			}
		}
	}
}

func TestProgressLine(t *testing.T) {
	p := importer.Progress{Bytes: 50, Keys: 1000, Elapsed: 2 * time.Second}
	if got := p.Line(200); got != "[#######.......................]  25%  1000 keys  500/s  6s left" {
		t.Errorf("%q", got)
	}
	if got := p.Line(0); got != "0 MB  1000 keys  500/s" {
		t.Errorf("%q", got)
	}
}
