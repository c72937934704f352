package messagesfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// lines are those of a file of empty stores: a head, the heads of both stores, the end.
func lines(t *testing.T) []string {
	t.Helper()
	var all []string
	put := func(v any) {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(b))
	}
	put(Head{Kind: headKind, Format: Format, Version: "1.2.3", Database: "shop", Level: 2})
	sum, n := sha256.New(), 0
	emit := func(store fsm.RecordStore) func([]byte) error {
		return func(record []byte) error {
			n++
			sum.Write(fsm.AppendRecord(nil, store, record))
			put(line{Kind: Kind(store, record), Record: bytes.Clone(record)})
			return nil
		}
	}
	if err := errors.Join(queue.New().SavePortable(emit(fsm.OfMessages)), workflow.New().Save(emit(fsm.OfWorkflows))); err != nil {
		t.Fatal(err)
	}
	put(end{endKind, n, hex.EncodeToString(sum.Sum(nil))})
	return all
}

func read(all []string) (h Head, n int, err error) {
	return Read(strings.NewReader(strings.Join(all, "\n")+"\n"), func(fsm.RecordStore, []byte) error { return nil })
}

func TestRead(t *testing.T) {
	all := lines(t)
	h, n, err := read(all)
	if err != nil || n != 2 || h.Database != "shop" || h.Version != "1.2.3" || h.Level != 2 {
		t.Fatalf("%+v, %d records, %v", h, n, err)
	}
	stop := errors.New("stop")
	if _, _, err := Read(strings.NewReader(strings.Join(all, "\n")), func(fsm.RecordStore, []byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error of emit became %v", err)
	}
}

// TestRefusedFiles: each damage is refused with what is wrong, and in which line.
func TestRefusedFiles(t *testing.T) {
	for name, c := range map[string]struct {
		change func(all []string) []string
		says   string
	}{
		"empty":        {func([]string) []string { return nil }, "its first line"},
		"another file": {func([]string) []string { return []string{`{"kind":"message"}`} }, "its first line is not of the kind trireme-messages"},
		"newer format": {func(all []string) []string {
			all[0] = `{"kind":"trireme-messages","format":2,"version":"9.0.0"}`
			return all
		}, "it has format 2 and was written by version 9.0.0; this version reads format 1"},
		"bad JSON":       {func(all []string) []string { all[2] = all[2][:20]; return all }, "line 3: "},
		"bad base64":     {func(all []string) []string { all[1] = `{"kind":"head","record":"%%"}`; return all }, "line 2: "},
		"no kind":        {func(all []string) []string { all[1] = `{}`; return all }, "line 2: it has no kind"},
		"another kind":   {func(all []string) []string { all[1] = strings.Replace(all[1], "head", "queue", 1); return all }, `line 2: its record is not of the kind "queue"`},
		"an empty line":  {func(all []string) []string { all[1] = ""; return all }, "line 2: "},
		"cut short":      {func(all []string) []string { return all[:2] }, "it has no last line, so it was cut short"},
		"a line missing": {func(all []string) []string { return append(all[:1], all[2:]...) }, "its last line counts 2 records, it has 1"},
		"no record":      {func(all []string) []string { return []string{all[0], `{"kind":"end","records":0}`} }, "it has no record"},
		"another sum": {func(all []string) []string {
			all[3] = fmt.Sprintf(`{"kind":"end","records":2,"sha256":"%064d"}`, 0)
			return all
		}, "the sum of its records is "},
		"lines behind the end": {func(all []string) []string { return append(all, "{}") }, "lines follow the last one"},
	} {
		if _, _, err := read(c.change(lines(t))); !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBodies: a body is shown as text where that is short.
func TestBodies(t *testing.T) {
	for body, text := range map[string]bool{"": true, "plain\n\ttext \u2028": true, "\x00\x01": false, "\xff": false, "\x1b[0m": false} {
		var l line
		l.body([]byte(body))
		b, err := json.Marshal(&l)
		if err != nil || (l.Body != nil) != text || text && *l.Body != body || !text && string(l.BodyBase64) != body || len(b) > 200 {
			t.Errorf("%q: %s %v", body, b, err)
		}
	}
}
