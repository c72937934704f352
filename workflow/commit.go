package workflow

import (
	"context"
	"encoding/json"
)

// Command is a Redis command, such as {"SET", "key", 1}.
type Command []any

// Outcome is the result of a step with what takes effect in the same log entry: commands, a state of the run that everybody can read, and the
// updates that the run accepts from then on, by name with their rules. What is nil is left as it is.
type Outcome[T any] struct {
	Commands []Command         `json:"svcCommit,omitempty"`
	State    any               `json:"svcState,omitempty"`
	Updates  map[string]string `json:"svcUpdates,omitempty"`
	Result   T                 `json:"result,omitempty"`
}

// Commit is a step whose result is recorded together with the commands, the state and the updates of its outcome: all of it once, or none. If
// a command is refused the step is not recorded; a condition that does not hold fails the attempt, anything else fails the run. Commands are
// ignored unless the run was triggered with RunOptions.CommitAs.
func Commit[T any](c *Context, name string, fn func(ctx context.Context) (Outcome[T], error)) T {
	return result[Outcome[T]](c, &pending{step: step{Name: name, Type: "Run"}, run: func(ctx context.Context) (*string, error) {
		o, err := fn(ctx)
		if err != nil {
			return nil, err
		}
		return outOf(o)
	}}).Result
}

// SetState is a step that sets the state of the run, which everybody can read: Client.State. A nil state removes it.
func SetState(c *Context, name string, state any) {
	if state == nil {
		state = json.RawMessage("null")
	}
	Commit(c, name, func(context.Context) (Outcome[None], error) { return Outcome[None]{State: state}, nil })
}
