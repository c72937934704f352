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

// keepKnown drops the commands of steps, and options that are new, below the level env.Files, where no run can have asked for them, and
// where there may be nodes that can't read them.
func (a *API) keepKnown(ctx context.Context, items []workflow.Submission) error {
	if !slices.ContainsFunc(items, func(n workflow.Submission) bool { return len(n.Commit) > 0 || n.Options.Since() > env.Base }) {
		return nil
	}
	var level env.Level
	if _, err := a.Engine.Read(ctx, fsm.Reading{}, func(v *fsm.View) { level = v.Level() }); err != nil {
		return err
	}
	for i := range items {
		if level < env.Files {
			items[i].Commit = nil
			items[i].Options.DropNew()
		}
	}
	return nil
}
