package messages

import (
	"context"
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	runs "github.com/trireme-dev/trireme/fsm/workflow"
)

// RunOptions returns what the start of a run asks for beyond its messages: by its own headers, or by those that SDKs forward with a
// trigger, which go no further.
func (a *API) RunOptions(ctx context.Context, h *Headers, o *queue.Options) (queue.RunOptions, error) {
	var c queue.Config
	for i := range queue.Directives {
		d := &queue.Directives[i]
		if d.Scope != queue.OfRun {
			continue
		}
		values := h.Values(d.Name)
		for _, prefix := range a.Parser.Prefixes {
			own := prefix + "-" + d.Name
			if len(values) == 0 {
				values = h.Values("forward-" + strings.ToLower(own))
			}
			dropHeader(o, own)
		}
		if text := strings.Join(values, ","); text != "" {
			if err := c.Set(d.Name, text); err != nil {
				return queue.RunOptions{}, Invalid("%s", err)
			}
		}
	}
	out := c.RunOptions()
	if out.IsZero() {
		return out, nil
	}
	return out, a.NeedFiles(ctx)
}

// NeedFiles refuses a request for what nodes below the level env.Files do not know.
func (a *API) NeedFiles(ctx context.Context) error {
	known, err := a.KnowsFiles(ctx)
	if err == nil && !known {
		err = Invalid(runs.NeedsLevel)
	}
	return err
}

// KnowsFiles reports whether the level env.Files is in force.
func (a *API) KnowsFiles(ctx context.Context) (bool, error) { return a.reaches(ctx, env.Files) }
