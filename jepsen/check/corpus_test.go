package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/jepsen/history"
)

// parse reads the corpus: a line holds the moments of call and return, the
// operation with its arguments, and the reply (ok, nil, a value, unknown or
// not-applied). Lines that begin with # are comments.
func parse(text string) ([]history.Op, error) {
	var ops []history.Op
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		op, err := parseLine(strings.Fields(line))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		op.Client, op.Key = len(ops), "k"
		ops = append(ops, op)
	}
	return ops, nil
}

func parseLine(f []string) (op history.Op, err error) {
	arguments := map[string]int{"read": 0, "write": 1, "create": 1, "cas": 2, "add": 1}
	if len(f) < 4 || len(f) != 4+arguments[f[2]] {
		return op, fmt.Errorf("%d words", len(f))
	}
	if _, err := fmt.Sscan(f[0], &op.Call); err != nil {
		return op, err
	}
	if _, err := fmt.Sscan(f[1], &op.Return); err != nil {
		return op, err
	}
	op.Kind = history.Kind(f[2])
	switch op.Kind {
	case history.CompareAndSet:
		op.Expect, op.Value = f[3], f[4]
	case history.Add:
		op.Delta, err = strconv.ParseInt(f[3], 10, 64)
	case history.Write, history.Create:
		op.Value = f[3]
	}
	if err == nil {
		err = parseReply(&op, f[len(f)-1])
	}
	return op, err
}

func parseReply(op *history.Op, reply string) (err error) {
	op.Outcome = history.OK
	switch {
	case reply == "unknown" || reply == "not-applied":
		op.Outcome = history.Outcome(reply)
	case op.Kind == history.Add:
		op.Sum, err = strconv.ParseInt(reply, 10, 64)
	case reply != "nil":
		op.Found = true
		if op.Kind == history.Read {
			op.Read = reply
		}
	}
	return err
}

var checkers = map[string]func([]history.Op) Report{"register": Registers, "counter": Counters}

// corpus runs fn on every history of a checker's folder.
func corpus(t *testing.T, checker, folder string, atLeast int, fn func(t *testing.T, text string, r Report)) {
	files, err := filepath.Glob(filepath.Join("testdata", checker, folder, "*.txt"))
	if err != nil || len(files) < atLeast {
		t.Fatalf("%s: %d %s histories, want at least %d (%v)", checker, len(files), folder, atLeast, err)
	}
	for _, file := range files {
		t.Run(checker+"/"+strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			ops, err := parse(string(text))
			if err != nil {
				t.Fatal(err)
			}
			fn(t, string(text), checkers[checker](ops))
		})
	}
}

// TestKnownBad holds every checker against histories it must reject, each for
// the reason its first line names.
func TestKnownBad(t *testing.T) {
	for checker, atLeast := range map[string]int{"register": 12, "counter": 11} {
		corpus(t, checker, "bad", atLeast, func(t *testing.T, text string, r Report) {
			want, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), ":")
			if len(r.Anomalies) == 0 {
				t.Fatal("accepted")
			}
			if got := r.Anomalies[0]; got.Kind != want {
				t.Fatalf("rejected as %q, want %q\n%v", got.Kind, want, got)
			}
		})
	}
}

func TestKnownGood(t *testing.T) {
	for checker, atLeast := range map[string]int{"register": 4, "counter": 3} {
		corpus(t, checker, "good", atLeast, func(t *testing.T, _ string, r Report) {
			for _, a := range r.Anomalies {
				t.Error(a)
			}
		})
	}
}
