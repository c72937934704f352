package observe

import (
	"strings"
	"testing"

	gometrics "github.com/hashicorp/go-metrics"
)

func TestRegistryHasBuildRuntimeAndLibraries(t *testing.T) {
	r, err := NewRegistry("v1.2.3", "abc")
	if err != nil {
		t.Fatal(err)
	}
	gometrics.SetGauge([]string{"raft", "trial"}, 7)
	gometrics.IncrCounterWithLabels([]string{"memberlist", "trial"}, 1, []gometrics.Label{{Name: "peer", Value: "n2"}})
	for _, took := range []float32{2, 3} {
		gometrics.AddSample([]string{"raft", "commit-time"}, took)
	}
	gometrics.SetGauge([]string{"raft", "commit-time"}, 1) // a name has one kind
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, f := range families {
		found[f.GetName()] = f.String()
	}
	for _, name := range []string{"trireme_build_info", "go_goroutines", "process_open_fds", "raft_trial", "memberlist_trial"} {
		if found[name] == "" {
			t.Errorf("%s is not in the registry", name)
		}
	}
	if got := found["raft_commit_time"]; !strings.Contains(got, "sample_count:2") || !strings.Contains(got, "sample_sum:5") {
		t.Errorf("two samples are shown as %s", got)
	}
	if !strings.Contains(found["trireme_build_info"], "v1.2.3") {
		t.Errorf("build info is %s", found["trireme_build_info"])
	}
	if _, err := NewRegistry("v1.2.3", "abc"); err != nil {
		t.Errorf("a second registry of the process: %v", err)
	}
}
