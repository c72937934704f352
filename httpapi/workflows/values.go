package workflows

import (
	"slices"
	"strconv"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// keptValues are the values of keys that a run keeps.
type keptValues struct {
	WorkflowRunID        string      `json:"workflowRunId"`
	WorkflowRunCreatedAt int64       `json:"workflowRunCreatedAt"`
	Values               []keptValue `json:"values"`
	// Missed counts those beyond the most that a run keeps.
	Missed uint64 `json:"missed,omitempty"`
}

// keptValue is the value of a key after the commands of a step.
type keptValue struct {
	Key    string `json:"key"`
	StepID uint32 `json:"stepId"`
	// Type is empty if there was no such key. Size is in bytes, Expires in unix milliseconds.
	Type    string `json:"type,omitempty"`
	Size    int64  `json:"size,omitempty"`
	Expires int64  `json:"expiresAt,omitempty"`
	// Omitted: there was no room for the value.
	Omitted bool `json:"omitted,omitempty"`
}

// keptIn returns the values that steps in a part of a log have left, of all those of the run.
func keptIn(list []*workflow.Entry, all *workflow.Data) (kept []workflow.KeptValue) {
	if all == nil || len(all.Values) == 0 {
		return nil
	}
	steps := map[uint32]bool{}
	for _, e := range list {
		if e.IsResult() {
			steps[e.Step.ID] = true
		}
	}
	for _, v := range all.Values {
		if steps[v.Step] {
			kept = append(kept, v)
		}
	}
	return kept
}

// newestOf returns the last value of each key, in the order in which the keys were touched last.
func newestOf(list []workflow.KeptValue) (newest []workflow.KeptValue) {
	seen := map[string]bool{}
	for _, v := range slices.Backward(list) {
		if !seen[v.Key] {
			seen[v.Key] = true
			newest = append(newest, v)
		}
	}
	slices.Reverse(newest)
	return newest
}

// values answers GET /v2/workflows/runs/{id}/values: all that the run keeps, or, up to a step, the newest of each key.
func (re *request) values() (out *keptValues, err error) {
	created, err := re.readCreated()
	if err != nil {
		return nil, err
	}
	var step *uint32
	if text := re.parameters().Get("step"); text != "" {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, messages.Invalid("invalid step %q: the number of a step is wanted", text)
		}
		at := uint32(n)
		step = &at
	}
	id := re.Plain(2)
	read := re.view(func(v *fsm.View) {
		s := v.Workflows()
		r := s.Find(id, created)
		if out, err = nil, nil; r == nil {
			err = noRun(id)
			return
		}
		out, err = valuesOf(s, r, step)
	})
	if read != nil {
		return nil, read
	}
	return out, err
}

func valuesOf(s *workflow.Store, r *workflow.Run, step *uint32) (*keptValues, error) {
	out := &keptValues{WorkflowRunID: r.ID, WorkflowRunCreatedAt: r.Created, Values: []keptValue{}}
	var list []workflow.KeptValue
	if r.Data != nil {
		list, out.Missed = r.Data.Values, r.Data.ValuesMissed
	}
	if step != nil {
		entries, _, has := s.ForkPoint(r, step)
		if !has {
			return nil, noResult(s, r, *step)
		}
		list = newestOf(keptIn(s.ForkLog(r.No, entries), r.Data))
	}
	for _, v := range list {
		out.Values = append(out.Values, keptValue{v.Key, v.Step, v.Type, v.Size, v.Expires, v.Omitted()})
	}
	return out, nil
}
