package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/report"
)

func TestFlags(t *testing.T) {
	s, err := parse("bench", []string{"-rows", "1,16", "-pairs", "9", "-seconds", "0.5", "-dir", "d"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(s.wanted(), " ") != "1 16" || s.pairs != 9 || s.seconds != 500*time.Millisecond || s.out != filepath.Join("d", "results.json") {
		t.Fatalf("%+v", s)
	}
	for _, bad := range []string{"-rows 26", "-pairs 0", "-seconds x", "-writes none", "extra", "-quiet 0s", "-vectors 0", "-documents -1"} {
		if _, err := parse("bench", strings.Fields(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestMergedAndUnfinishedRows(t *testing.T) {
	out := filepath.Join(t.TempDir(), "results.json")
	old := &report.Report{Servers: map[string]string{"etcd": "3.7.3"}, Rows: []*report.Row{{ID: "1", Verdict: report.Holds}, {ID: "2", Verdict: report.NoPeer}}}
	if err := old.Save(out); err != nil {
		t.Fatal(err)
	}
	if got := unfinished([]string{"1", "2", "3"}, out); strings.Join(got, " ") != "2 3" {
		t.Errorf("unfinished %v", got)
	}
	if got := unfinished([]string{"1"}, out+".none"); len(got) != 1 {
		t.Errorf("without results: %v", got)
	}
	now := &report.Report{Servers: map[string]string{"trireme": "dev"}}
	all := merged(now, out)
	if len(all.Rows) != 2 || all.Servers["etcd"] != "3.7.3" || all.Servers["trireme"] != "dev" || len(now.Rows) != 0 {
		t.Errorf("%+v", all)
	}
}

func TestUsageErrorsExitWithTwo(t *testing.T) {
	for _, args := range [][]string{{"-rows", "99"}, {"stall", "-quiet", "-1s"}, {"idle", "-for", "x"}, {"growth", "-most-keys", "0"}, {"eviction", "-cache-mib", "0"}, {"eviction", "-cache-value", "0"}, {"load", "-c", "many"},
		{"snapshots", "-sizes", "10,0"}, {"snapshots", "-for", "0s"}, {"restart", "-keys", "0"}} {
		if code := run(t.Context(), args); code != exitUsage {
			t.Errorf("%v: exit %d", args, code)
		}
	}
}
