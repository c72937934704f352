package layout

import (
	"os/exec"
	"strings"
	"testing"
)

// scripts/test.sh runs failed tests a second time. What a binary that ended by itself did not run must
// not pass for that: aborted.awk finds it in the events.
func TestAbortedRunsAreFound(t *testing.T) {
	const started = `{"Action":"run","Package":"a","Test":"TestA"}` + "\n"
	for events, want := range map[string]string{
		started + `{"Action":"fail","Package":"a","Elapsed":1}`:                                                                                "a ended while TestA was running\n",
		started + `{"Action":"fail","Package":"a","Test":"TestA","Elapsed":1}` + "\n" + `{"Action":"fail","Package":"a"}`:                      "",
		started + `{"Action":"output","Package":"a","Test":"TestA","Output":"\"Action\":\"fail\""}` + "\n" + `{"Action":"fail","Package":"a"}`: "a ended while TestA was running\n",
		started + `{"Action":"fail","Package":"b"}`:                                                                                            "",
	} {
		cmd := exec.Command("awk", "-f", root+"/scripts/aborted.awk")
		cmd.Stdin = strings.NewReader(events)
		got, err := cmd.CombinedOutput()
		if err != nil || string(got) != want {
			t.Errorf("%s\ngives %q, %v; want %q", events, got, err, want)
		}
	}
}
