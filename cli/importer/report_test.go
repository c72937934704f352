package importer_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/cli/importer"
)

// TestCountsOfReports writes reports and lines of progress in which every number is 1, and then 2: no text says "1 keys" or "2 key".
func TestCountsOfReports(t *testing.T) {
	for n, wrong := range map[int64]string{1: `\b1 (\w+ )?(keys|libraries)\b`, 2: `\b2 (\w+ )?(key|library)\b`} {
		r := importer.Report{
			Keys: n, Types: map[string]int64{"string": n}, Libraries: n, Kept: n, Expired: n, Skipped: n, OtherDatabases: map[uint64]int64{3: n},
			Failures: []*importer.Failure{{Reason: "it is too large", Count: n, Examples: []string{"k"}}}, Done: n, Seconds: 1,
		}
		var b strings.Builder
		if err := r.Write(&b); err != nil {
			t.Fatal(err)
		}
		for _, size := range []int64{0, 100} {
			p := importer.Progress{Bytes: 50, Keys: n}
			b.WriteString(p.Line(size) + "\n")
		}
		if found := regexp.MustCompile(wrong).FindAllString(b.String(), -1); len(found) > 0 {
			t.Errorf("%q in:\n%s", found, b.String())
		}
		if strings.Count(b.String(), "\n") != 10 {
			t.Errorf("not all counts are there:\n%s", b.String())
		}
	}
}
