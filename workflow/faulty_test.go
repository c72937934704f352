package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/workflow"
)

type named struct{ Name string }

type sized struct {
	Bytes  int
	Called bool
}

// faulty are the workflows that fail, or are large.
func (w *world) faulty() []workflow.Definition {
	return []workflow.Definition{
		flow("flaky", w.flaky), flow("failing", w.failing).OnFailure(w.failed), flow("final", w.final).OnFailure(w.failed), flow("later", w.later),
		flow("unauthorized", w.unauthorized), workflow.New("mending", w.mending), workflow.New("branches", w.branches), flow("long", w.long),
		workflow.New("large", w.large), workflow.New("huge", w.huge), workflow.New("hugeError", w.hugeError).OnFailure(w.failedSized), flow("quitter", w.quitter),
		flow("limited", w.limited).With(workflow.RunOptions{FlowControl: &workflow.FlowControl{Key: "limited", Parallelism: 2}}),
	}
}

func (w *world) flaky(c *workflow.Context) (any, error) {
	tries := workflow.Run(c, "try", func(context.Context) (int, error) {
		n := w.did(c.RunID, "try")
		return n, w.fault("flaky " + c.RunID)
	})
	return []int{tries, c.Retried}, nil
}

// failed is a failure function.
func (w *world) failed(_ context.Context, f *workflow.Failure[[]byte]) (string, error) {
	return w.note(f.FailedRun, f.Input)
}

func (w *world) failedSized(_ context.Context, f *workflow.Failure[sized]) (string, error) {
	input, err := json.Marshal(f.Input)
	if err != nil {
		return "", err
	}
	return w.note(f.FailedRun, input)
}

func (w *world) note(f workflow.FailedRun, input []byte) (string, error) {
	w.change(func() { w.failures[f.RunID] = told{f, input} })
	return "told", w.fault("failure function " + f.RunID)
}

func (w *world) failing(c *workflow.Context) (any, error) {
	step(w, c, "good", "g")
	return workflow.Run(c, "bad", func(context.Context) (int, error) {
		w.did(c.RunID, "bad")
		return 0, errors.New("it is bad")
	}), nil
}

func (w *world) final(c *workflow.Context) (any, error) {
	return workflow.Run(c, "fatal", func(context.Context) (int, error) {
		w.did(c.RunID, "fatal")
		return 0, workflow.NonRetryable(errors.New("never again"))
	}), nil
}

func (w *world) later(c *workflow.Context) (any, error) {
	return workflow.Run(c, "try", func(context.Context) (int, error) {
		n := w.did(c.RunID, "try")
		if n == 1 {
			return 0, workflow.RetryAfter(errors.New("in a second"), time.Second)
		}
		return n, nil
	}), nil
}

func (w *world) unauthorized(c *workflow.Context) (any, error) {
	if c.Header.Get("X-User") != "ada" {
		return nil, errors.New("not for you")
	}
	return step(w, c, "secret", "open"), nil
}

// mending fails in its third step while the world says so; what ran before must not run again after a resume.
func (w *world) mending(c *workflow.Context, in named) (object, error) {
	one := workflow.Run(c, "one", func(context.Context) (int64, error) {
		w.did(c.RunID, "one")
		return time.Now().UnixNano(), nil
	})
	two := step(w, c, "two", []int64{one})
	three := breaking(w, c, "three", in.Name, two[0])
	return object{"same": one == three}, nil
}

func (w *world) branches(c *workflow.Context, in named) (string, error) {
	left := workflow.Go(c, func(c *workflow.Context) (string, error) { return step(w, c, "left", "l"), nil })
	middle := workflow.Go(c, func(c *workflow.Context) (string, error) { return breaking(w, c, "middle", in.Name, "m"), nil })
	right := workflow.Go(c, func(c *workflow.Context) (string, error) { workflow.Sleep(c, "right", time.Second); return "", nil })
	all, err := workflow.All(left, middle, right)
	return strings.Join(all, ""), err
}

func (w *world) long(c *workflow.Context) (any, error) {
	sum := 0
	for i := 1; i <= 60; i++ {
		sum += step(w, c, fmt.Sprint("step ", i), i)
	}
	return sum, nil
}

func (w *world) large(c *workflow.Context, in struct{ Text string }) (object, error) {
	total := len(in.Text)
	for i := range 5 {
		total += len(step(w, c, fmt.Sprint("large ", i), strings.Repeat(fmt.Sprint(i), 300_000)))
	}
	called, err := workflow.Call(c, "echo", workflow.Request{URL: w.base + "/out/echo/large", Body: []byte(strings.Repeat("y", 400_000))})
	if err != nil {
		return nil, err
	}
	var got echo
	err = called.JSON(&got)
	return object{"total": total, "called": len(got.Body)}, err
}

// huge has an answer of many bytes between steps that are small.
func (w *world) huge(c *workflow.Context, in sized) ([]any, error) {
	step(w, c, "before", 1)
	answer, err := workflow.Call(c, "huge", workflow.Request{URL: fmt.Sprint(w.base, "/out/huge/", in.Bytes), Retries: 3})
	if err != nil {
		return nil, err
	}
	sum := workflow.Run(c, "sum", func(context.Context) ([]any, error) {
		var got huge
		err := answer.JSON(&got)
		return []any{answer.Status, len(got.Text), got.End}, err
	})
	step(w, c, "after", 2)
	return sum, nil
}

// hugeError has a step whose error is long, or calls a URL whose failure is.
func (w *world) hugeError(c *workflow.Context, in sized) (any, error) {
	if in.Called {
		answer, _ := workflow.Call(c, "failing", workflow.Request{URL: fmt.Sprint(w.base, "/out/hugefailure/", in.Bytes)})
		return workflow.Run(c, "after", func(context.Context) ([]int, error) {
			w.did(c.RunID, "after")
			var got huge
			err := answer.JSON(&got)
			return []int{answer.Status, len(got.Text)}, err
		}), nil
	}
	return workflow.Run(c, "failing", func(context.Context) (int, error) {
		w.did(c.RunID, "failing")
		return 0, errors.New(strings.Repeat("x", in.Bytes))
	}), nil
}

func (w *world) quitter(c *workflow.Context) (any, error) {
	step(w, c, "before", 1)
	c.Cancel()
	return step(w, c, "after", 2), nil
}

// limited is for many small runs that share a flow-control key: never more than two at once.
func (w *world) limited(c *workflow.Context) (any, error) {
	workflow.Run(c, "one", func(context.Context) (workflow.None, error) {
		w.change(func() {
			w.inside++
			w.most = max(w.most, w.inside)
		})
		defer w.change(func() { w.inside-- })
		time.Sleep(50 * time.Millisecond) // the work
		return workflow.None{}, nil
	})
	return strings.Join(c.Labels, ","), nil
}
