package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/jepsen/history"
)

// parseAppends reads the corpus of lists: a line holds the moments of call and return,
// the parts (x+1 appends 1 to x, x=1,2 read 1 and 2 from x) and the outcome.
func parseAppends(text string) (ops []history.Op, err error) {
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		op := history.Op{Client: len(ops), Kind: history.Transaction, Outcome: history.Outcome(words[len(words)-1])}
		if _, err := fmt.Sscan(words[0], &op.Call); err != nil {
			return nil, err
		}
		if _, err := fmt.Sscan(words[1], &op.Return); err != nil {
			return nil, err
		}
		for _, word := range words[2 : len(words)-1] {
			if key, value, appends := strings.Cut(word, "+"); appends {
				op.Parts = append(op.Parts, history.Part{Kind: history.Append, Key: key, Value: value})
				continue
			}
			key, list, _ := strings.Cut(word, "=")
			op.Parts = append(op.Parts, history.Part{Kind: history.Read, Key: key, List: slices.DeleteFunc(strings.Split(list, ","), func(v string) bool { return v == "" })})
		}
		ops = append(ops, op)
	}
	return ops, nil
}

// TestAppendCorpus holds the checker against histories that it must reject, each for the
// reason its first line names, and against some that it must accept.
func TestAppendCorpus(t *testing.T) {
	for folder, atLeast := range map[string]int{"bad": 20, "good": 5} {
		files, err := filepath.Glob(filepath.Join("testdata", "append", folder, "*.txt"))
		if err != nil || len(files) < atLeast {
			t.Fatalf("%d %s histories, want at least %d (%v)", len(files), folder, atLeast, err)
		}
		for _, file := range files {
			t.Run(folder+"/"+strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				ops, err := parseAppends(string(text))
				if err != nil {
					t.Fatal(err)
				}
				kinds := []string{}
				for _, a := range Appends(ops).Anomalies {
					kinds = append(kinds, a.Kind)
					t.Log(a)
				}
				want, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), ":")
				if folder == "good" && len(kinds) > 0 || folder == "bad" && !slices.Contains(kinds, want) {
					t.Fatalf("found %v", kinds)
				}
			})
		}
	}
}

// drawAppends runs random transactions on true lists, each at one moment of its interval.
func drawAppends(t *rapid.T) []history.Op {
	lists := map[string][]string{"x": {}, "y": {}, "z": {}}
	keys := rapid.SampledFrom([]string{"x", "y", "z"})
	now, next := int64(0), 0
	var ops []history.Op
	for range rapid.IntRange(1, 40).Draw(t, "transactions") {
		now += 2
		op := history.Op{Client: len(ops), Kind: history.Transaction, Call: now - rapid.Int64Range(1, 9).Draw(t, "before"), Return: now + rapid.Int64Range(1, 9).Draw(t, "after")}
		op.Outcome = rapid.SampledFrom([]history.Outcome{history.OK, history.OK, history.OK, history.Unknown, history.NotApplied}).Draw(t, "outcome")
		takes := op.Outcome == history.OK || op.Outcome == history.Unknown && rapid.Bool().Draw(t, "takes effect")
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			key := keys.Draw(t, "key")
			if rapid.Bool().Draw(t, "reads") {
				op.Parts = append(op.Parts, history.Part{Kind: history.Read, Key: key, List: slices.Clone(lists[key])})
				continue
			}
			next++
			op.Parts = append(op.Parts, history.Part{Kind: history.Append, Key: key, Value: fmt.Sprint(next)})
			if takes {
				lists[key] = append(lists[key], fmt.Sprint(next))
			}
		}
		ops = append(ops, op)
	}
	last := history.Op{Client: len(ops), Kind: history.Transaction, Outcome: history.OK, Call: now + 100, Return: now + 110}
	for _, key := range []string{"x", "y", "z"} {
		last.Parts = append(last.Parts, history.Part{Kind: history.Read, Key: key, List: lists[key]})
	}
	return append(ops, last)
}

func TestTrueListsPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if r := Appends(drawAppends(t)); len(r.Anomalies) > 0 {
			t.Fatal(r.Anomalies[0])
		}
	})
}

// TestForgedListsFail takes the last value from the final read of a list: an append that
// was acknowledged, or seen by somebody else, is then missing.
func TestForgedListsFail(t *testing.T) {
	forged := 0
	rapid.Check(t, func(t *rapid.T) {
		ops := drawAppends(t)
		last := &ops[len(ops)-1]
		for i, p := range last.Parts {
			if len(p.List) == 0 {
				continue
			}
			gone := p.List[len(p.List)-1]
			acknowledged := slices.ContainsFunc(ops, func(op history.Op) bool {
				return op.Known() && slices.ContainsFunc(op.Parts, func(q history.Part) bool { return q.Kind == history.Append && q.Value == gone })
			})
			if !acknowledged {
				continue
			}
			last.Parts[i].List = p.List[:len(p.List)-1]
			if len(Appends(ops).Anomalies) == 0 {
				t.Fatalf("accepted the loss of %s", gone)
			}
			forged++
			return
		}
	})
	if forged == 0 {
		t.Fatal("no history could be forged")
	}
}
