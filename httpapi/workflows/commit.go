package workflows

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// brought are the members of a step's result that mean something to the run: its commands, the run's state, and the updates that it accepts.
type brought struct {
	Commit  json.RawMessage `json:"svcCommit"`
	State   json.RawMessage `json:"svcState"`
	Updates json.RawMessage `json:"svcUpdates"`
}

// readBrought reads what the result of a step brings. SDKs write results as texts.
func readBrought(body []byte) (b brought) {
	if !bytes.Contains(body, []byte("svcCommit")) && !bytes.Contains(body, []byte("svcState")) && !bytes.Contains(body, []byte("svcUpdates")) { // as most
		return b
	}
	var step stepBody
	var text string
	if json.Unmarshal(body, &step) != nil {
		return b
	}
	if json.Unmarshal(step.Out, &text) == nil {
		step.Out = json.RawMessage(text)
	}
	if json.Unmarshal(step.Out, &b) != nil {
		return brought{}
	}
	if len(b.State) > 0 {
		var state bytes.Buffer
		json.Compact(&state, b.State) // which was read before
		b.State = state.Bytes()
	}
	return b
}

// keepKnown drops what steps bring, and options that are new, below the level env.Files, where no run can have asked for them, and
// where there may be nodes that can't read them.
func (a *API) keepKnown(ctx context.Context, items []workflow.Submission) error {
	if !slices.ContainsFunc(items, func(n workflow.Submission) bool {
		return n.Options.Since() > env.Base || n.Kind == workflow.StepSubmission && len(n.Commit)+len(n.State)+len(n.Updates) > 0
	}) {
		return nil
	}
	known, err := a.KnowsFiles(ctx)
	for i := range items {
		n := &items[i]
		if known {
			break
		}
		n.Options.DropNew()
		if n.Kind == workflow.StepSubmission {
			n.Commit, n.State, n.Updates = nil, nil, nil
		}
	}
	return err
}
