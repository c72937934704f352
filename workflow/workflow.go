package workflow

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Workflow is a durable function from In to Out. Inputs and results are JSON; []byte is taken as it is, and None is nothing.
type Workflow[In, Out any] struct {
	name     string
	fn       func(c *Context, in In) (Out, error)
	options  RunOptions
	onFailed func(ctx context.Context, f *Failure[In]) (string, error)
}

// New makes a workflow of a function. The name is the last segment of its URL. New panics if the name is empty or has a slash.
//
// The function is called anew for each delivery of a run, over the results that the run has recorded: it must come to the same steps in the
// same order each time. What it returns is the result of the run. An error fails the attempt, which is retried.
func New[In, Out any](name string, fn func(c *Context, in In) (Out, error)) *Workflow[In, Out] {
	if name == "" || strings.ContainsAny(name, "/?#") {
		panic(fmt.Sprintf("workflow: the name %q is no segment of a URL", name))
	}
	return &Workflow[In, Out]{name: name, fn: fn}
}

// Name returns the name.
func (w *Workflow[In, Out]) Name() string { return w.name }

// With sets the options of all runs of the workflow. Those of a trigger or an invoke are over them, field by field.
func (w *Workflow[In, Out]) With(o RunOptions) *Workflow[In, Out] {
	w.options = o
	return w
}

// OnFailure sets the function that is called when a run has failed. What it returns is shown with the run; an error has it called again, as
// often as the run's retries say.
func (w *Workflow[In, Out]) OnFailure(fn func(ctx context.Context, f *Failure[In]) (string, error)) *Workflow[In, Out] {
	w.onFailed = fn
	return w
}

// Definition is a workflow of any types: what Handler serves.
type Definition interface {
	Name() string
	run(c *Context) ([]byte, error)
	failed(ctx context.Context, f *rawFailure) (result string, err error)
	defaults() RunOptions
}

// run calls the function with the payload of the run and returns its result.
func (w *Workflow[In, Out]) run(c *Context) ([]byte, error) {
	in, err := decode[In](c.Payload)
	if err != nil {
		return nil, NonRetryable(fmt.Errorf("the payload of workflow %s is no %T: %w", w.name, in, err))
	}
	out, err := w.fn(c, in)
	if err != nil {
		return nil, err
	}
	return encode(out)
}

func (w *Workflow[In, Out]) defaults() RunOptions { return w.options }

// errNoFailureFunction says that a workflow has no failure function.
var errNoFailureFunction = errors.New("workflow: no failure function")

func (w *Workflow[In, Out]) failed(ctx context.Context, f *rawFailure) (string, error) {
	if w.onFailed == nil {
		return "", errNoFailureFunction
	}
	in, err := decode[In](f.payload)
	if err != nil {
		return "", err
	}
	return w.onFailed(ctx, &Failure[In]{FailedRun: f.FailedRun, Input: in})
}
