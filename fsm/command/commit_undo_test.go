package command_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// submit applies a submission as an entry, and returns what refused it, empty if nothing did.
func (r *replica) submit(now int64, n workflow.Submission) string {
	r.t.Helper()
	r.index++
	entry := fsm.Entry{Stamp: now, Term: 1, Requests: []fsm.Request{{Code: fsm.Submit.Code, Body: fsm.Submit.Body(workflow.Submissions{Items: []workflow.Submission{n}})}}}
	outcomes, err := r.m.Apply(r.index, 1, entry.Encode())
	if err != nil || outcomes[0].Err != nil {
		r.t.Fatalf("submit: %v, %+v", err, outcomes)
	}
	if refusal := outcomes[0].Value.(workflow.Receipts).Items[0].Refused; refusal != nil {
		return refusal.Text
	}
	return ""
}

// TestEveryCallOfACommitIsUndone has each call of the scripts of all commands take effect with a step, which a condition behind it
// then refuses: the state is as if only the condition had been there, bit by bit.
func TestEveryCallOfACommitIsUndone(t *testing.T) {
	unmet := []string{"IF", "a key that no script has", "EXISTS"}
	step := workflow.Submission{Kind: workflow.StepSubmission, URL: "http://app/f", RunID: "undone", Body: []byte(`{}`), Step: workflow.Step{ID: 1, Concurrent: 1, Type: workflow.RunStep}}
	undone := 0
	for name, path := range scriptFiles(t) {
		t.Run(name, func(t *testing.T) {
			calls, beside := newReplica(t), newReplica(t)
			both := []*replica{calls, beside}
			start := workflow.Submission{Kind: workflow.InitSubmission, URL: "http://app/f", RunID: "undone", Body: []byte("{}"), Options: queue.Options{Given: queue.GivenCommit, CommitAs: acl.DefaultName}}
			now := int64(scripttest.Start)
			for _, r := range both {
				r.submit(now, start)
			}
			for _, s := range readScript(t, path) {
				if now += s.After; len(s.Argv) == 0 {
					continue
				}
				var words []string
				for _, w := range s.Argv {
					words = append(words, string(w))
				}
				for i, r := range both {
					rows := [][]string{words, unmet}
					step.Commit, _ = json.Marshal(rows[i:])
					text := r.submit(now, step)
					if text == "" {
						t.Fatalf("line %d: a step with %q was recorded", s.Line, rows[i:])
					}
					if i == 0 && strings.Contains(text, "command 2: CONDITION") {
						undone++
					}
				}
				if calls.digest() != beside.digest() {
					t.Fatalf("line %d: %s has left something", s.Line, s.Text)
				}
				for _, r := range both {
					r.run(now, &s)
				}
			}
		})
	}
	if undone < 5000 {
		t.Errorf("only %d calls were undone", undone)
	}
}
