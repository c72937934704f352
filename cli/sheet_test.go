package cli

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// TestShellWordIsOneWord: what a page says to type names what it is about, and nothing that a shell would run.
func TestShellWordIsOneWord(t *testing.T) {
	for _, word := range []string{"order-17", "a b", "$(id)", "`id`", "it's", "", "-x", "a;b", "ä", "a\"b", "*", "~", "{}"} {
		out, err := exec.Command("sh", "-c", "printf %s "+shellWord(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q is %s, which a shell takes for %q, %v", word, shellWord(word), out, err)
		}
	}
	if got := shellWord("a\x1b[2J"); strings.Contains(got, "\x1b") {
		t.Errorf("%q moves the cursor", got)
	}
}

// TestAttempts: an attempt is an ACTIVE event with the outcome that follows.
func TestAttempts(t *testing.T) {
	event := func(at int64, state string) any {
		v, err := decode([]byte(`{"time":` + strconv.FormatInt(at, 10) + `,"state":"` + state + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	got := attemptsOf([]any{event(1, "CREATED"), event(5, "ACTIVE"), event(9, "ERROR"), event(9, "RETRY"), event(20, "ACTIVE")})
	want := []attempt{{begin: 5, end: 9, state: "ERROR"}, {begin: 20, state: "ACTIVE"}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestBar: a bar has a mark wherever a span has a part of its cell, and failures stand above it.
func TestBar(t *testing.T) {
	m := marks{"#", ".", "!"}
	for name, c := range map[string]struct {
		step timedStep
		want string
	}{
		"done":     {timedStep{State: "STEP_SUCCESS", Due: 20, Recorded: 50}, "  ###"},
		"at once":  {timedStep{State: "STEP_SUCCESS", Due: 20, Recorded: 20}, "  #"},
		"sleeps":   {timedStep{State: "STEP_SUCCESS", Due: 1, Recorded: 20, WakesAt: 60}, "##...."},
		"goes on":  {timedStep{State: "STEP_PROGRESS", Due: 80}, "        ##"},
		"failed":   {timedStep{State: "STEP_SUCCESS", Due: 1, Recorded: 40, Failures: []stepFailure{{10, 500}}}, "#!##"},
		"no times": {timedStep{State: "STEP_PROGRESS"}, ""},
		"retries":  {timedStep{State: "STEP_RETRY", Due: 1, Failures: []stepFailure{{30, 500}}}, "###!......"},
	} {
		if got := c.step.bar(0, 100, 10, m); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
