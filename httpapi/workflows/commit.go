package workflows

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// commitMember is the member of a step's result that has its commands.
const commitMember = "svcCommit"

// commitOf returns the commands that the result of a step brings, nil if it has none. SDKs write results as texts.
func commitOf(body []byte) []byte {
	if !bytes.Contains(body, []byte(commitMember)) { // as most
		return nil
	}
	var step stepBody
	var result struct {
		Commit json.RawMessage `json:"svcCommit"`
	}
	var text string
	if json.Unmarshal(body, &step) != nil {
		return nil
	}
	if json.Unmarshal(step.Out, &text) == nil {
		step.Out = json.RawMessage(text)
	}
	if json.Unmarshal(step.Out, &result) != nil {
		return nil
	}
	return result.Commit
}

// keepAsked drops the commands of steps whose runs have not asked for any: they need not be in the log, and below the level env.Files
// there may be nodes that can't read them.
func (a *API) keepAsked(ctx context.Context, items []workflow.Submission) error {
	brings := func(n workflow.Submission) bool { return len(n.Commit) > 0 }
	if !slices.ContainsFunc(items, brings) {
		return nil
	}
	asked := make([]bool, len(items))
	_, err := a.Engine.Read(ctx, fsm.Reading{}, func(v *fsm.View) {
		for i := range items {
			asked[i] = brings(items[i]) && v.Level() >= env.Files && v.Workflows().CommitsAs(&items[i]) != ""
		}
	})
	for i := range items {
		if !asked[i] {
			items[i].Commit = nil
		}
	}
	return err
}
