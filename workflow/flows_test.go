package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/workflow"
)

// The workflows of clients/workflow/workflows.mjs, by their names there.

// step is a step whose effect is counted.
func step[T any](w *world, c *workflow.Context, name string, v T) T {
	return workflow.Run(c, name, func(context.Context) (T, error) {
		w.did(c.RunID, name)
		return v, nil
	})
}

// breaking is a step that fails as often as a fault says.
func breaking[T any](w *world, c *workflow.Context, name, fault string, v T) T {
	return workflow.Run(c, name, func(context.Context) (T, error) {
		w.did(c.RunID, name)
		return v, w.fault(fault)
	})
}

// flow makes a workflow of a function that takes the payload as it is.
func flow(name string, fn func(c *workflow.Context) (any, error)) *workflow.Workflow[[]byte, any] {
	return workflow.New(name, func(c *workflow.Context, _ []byte) (any, error) { return fn(c) })
}

type object = map[string]any

func (w *world) workflows() []workflow.Definition {
	child := w.child()
	parent := w.parent(child)
	waiter := w.waiter()
	return append([]workflow.Definition{
		flow("steps", w.steps), flow("sleeps", w.sleeps), flow("calls", w.callsOut), flow("caller", w.caller), flow("parallel", w.parallel), flow("wide", w.wide),
		flow("nested", w.nested), waiter, w.notifier(), flow("lookback", w.lookback), flow("webhook", w.webhook), child, parent, w.grandparent(parent),
		w.patient(waiter),
	}, w.faulty()...)
}

func (w *world) steps(c *workflow.Context) (any, error) {
	nothing := step(w, c, "nothing", workflow.None{})
	text := step(w, c, "text", "Grüße <&> \u2028\u2029 \"日本\" \\")
	o := step(w, c, "object", object{"input": json.RawMessage(c.Payload), "deep": []any{1, nil, object{"a": ""}}})
	number := workflow.Run(c, "number", func(context.Context) (int, error) { return 42, nil })
	var none *int
	none = step(w, c, "nil", none)
	return object{"nothing": nothing == workflow.None{}, "text": text, "object": o, "number": number, "nil": none, "user": c.Header.Get("X-User")}, nil
}

func now(context.Context) (int64, error) { return time.Now().UnixMilli(), nil }

func (w *world) sleeps(c *workflow.Context) (any, error) {
	times := []int64{workflow.Run(c, "start", now)}
	workflow.Sleep(c, "number", time.Second)
	times = append(times, workflow.Run(c, "after number", now))
	workflow.Sleep(c, "text", time.Second)
	workflow.SleepUntil(c, "date", time.UnixMilli(times[0]+3000))
	times = append(times, workflow.Run(c, "after date", now))
	workflow.SleepUntil(c, "past", time.UnixMilli(times[0]-60_000))
	return times, nil
}

func (w *world) callsOut(c *workflow.Context) (any, error) {
	url := w.base + "/out/"
	post, err := workflow.Call(c, "post", workflow.Request{URL: url + "echo/post?x=1", JSON: object{"n": 1}, Header: http.Header{"X-Mine": {"yes"}}})
	get, err2 := workflow.Call(c, "get", workflow.Request{URL: url + "echo/get"})
	refused, refusal := workflow.Call(c, "refused", workflow.Request{URL: url + "status/418", Method: "POST", Body: []byte("x")})
	flaky, err3 := workflow.Call(c, "flaky", workflow.Request{URL: url + "flaky/" + c.RunID, Method: "PUT", Retries: 5, RetryDelay: "10"})
	text, err4 := workflow.Call(c, "text", workflow.Request{URL: url + "text"})
	bytes, err5 := workflow.Call(c, "bytes", workflow.Request{URL: url + "bytes"})
	nobody, _ := workflow.Call(c, "nobody", workflow.Request{URL: "http://127.0.0.1:1/", Timeout: 5 * time.Second})
	if err := errors.Join(err, err2, err3, err4, err5); err != nil {
		return nil, err
	}
	var posted, got echo
	if err := errors.Join(post.JSON(&posted), get.JSON(&got)); err != nil {
		return nil, err
	}
	failed, is := errors.AsType[*workflow.CallError](refusal)
	return object{
		"post": posted, "get": got.Method, "refused": []any{is && failed.Response.Status == 418, string(refused.Body)}, "flaky": flaky.Status,
		"text": string(text.Body), "bytes": bytes.Body, "nobody": nobody.Status >= 500,
	}, nil
}

// caller calls a workflow, which starts a run of its own, and does not wait for it.
func (w *world) caller(c *workflow.Context) (any, error) {
	called, err := workflow.Call(c, "call", workflow.Request{URL: w.flow("child"), JSON: object{"x": 4}})
	if err != nil {
		return nil, err
	}
	var answer struct{ WorkflowRunID string }
	err = called.JSON(&answer)
	return answer.WorkflowRunID, err
}

func (w *world) parallel(c *workflow.Context) (any, error) {
	a := workflow.Go(c, func(c *workflow.Context) (string, error) { return step(w, c, "a", "A"), nil })
	workflow.Go(c, func(c *workflow.Context) (workflow.None, error) {
		workflow.Sleep(c, "nap", time.Second)
		return workflow.None{}, nil
	})
	called := workflow.Go(c, func(c *workflow.Context) (workflow.Response, error) {
		return workflow.Call(c, "call", workflow.Request{URL: w.base + "/out/echo/parallel", Body: []byte("b")})
	})
	waited := workflow.Go(c, func(c *workflow.Context) (string, error) {
		return workflow.Wait[string](c, "wait", "nobody-"+c.RunID, time.Second)
	})
	notified := workflow.Go(c, func(c *workflow.Context) (int, error) {
		return len(workflow.Notify(c, "notify", "nobody-else-"+c.RunID, object{"n": 1})), nil
	})
	value, err := a.Await()
	response, err2 := called.Await()
	_, timeout := waited.Await()
	reached, err3 := notified.Await()
	after := step(w, c, "after", "after")
	return object{"a": value, "status": response.Status, "timeout": errors.Is(timeout, workflow.ErrTimeout), "told": reached, "after": after}, errors.Join(err, err2, err3)
}

func (w *world) wide(c *workflow.Context) (any, error) {
	var all []*workflow.Future[int]
	for i := range 20 {
		all = append(all, workflow.Go(c, func(c *workflow.Context) (int, error) { return step(w, c, fmt.Sprint("branch ", i), i), nil }))
	}
	values, err := workflow.All(all...)
	sum := 0
	for _, v := range values {
		sum += v
	}
	return sum, err
}

func (w *world) nested(c *workflow.Context) (any, error) {
	one := func(c *workflow.Context, name, value string) *workflow.Future[string] {
		return workflow.Go(c, func(c *workflow.Context) (string, error) { return step(w, c, name, value), nil })
	}
	side := func(name string) *workflow.Future[string] {
		return workflow.Go(c, func(c *workflow.Context) (string, error) {
			first := step(w, c, name+"1", name)
			pair, err := workflow.All(one(c, name+"2", first+"x"), one(c, name+"3", first+"y"))
			return strings.Join(pair, "+"), err
		})
	}
	both, err := workflow.All(side("l"), side("r"))
	return step(w, c, "join", strings.Join(both, "|")), err
}

type waitInput struct {
	Event string
	// Timeout is in seconds.
	Timeout int
}

func (w *world) waiter() *workflow.Workflow[waitInput, object] {
	return workflow.New("waiter", func(c *workflow.Context, in waitInput) (object, error) {
		data, err := workflow.Wait[any](c, "wait", in.Event, time.Duration(in.Timeout)*time.Second)
		if err != nil && !errors.Is(err, workflow.ErrTimeout) {
			return nil, err
		}
		return object{"eventData": data, "late": err != nil, "after": step(w, c, "after", "done")}, nil
	})
}

func (w *world) notifier() workflow.Definition {
	type input struct{ Event, Data string }
	return workflow.New("notifier", func(c *workflow.Context, in input) ([]string, error) {
		var woken []string
		for _, n := range workflow.Notify(c, "notify", in.Event, in.Data) {
			woken = append(woken, n.RunID)
		}
		return woken, nil
	})
}

// lookback waits twice for the same event, after the notifications have come.
func (w *world) lookback(c *workflow.Context) (any, error) {
	workflow.Run(c, "start", func(ctx context.Context) (workflow.None, error) {
		return workflow.None{}, w.heard(ctx, "told "+c.RunID)
	})
	first, err := workflow.Wait[object](c, "first", "look", 30*time.Second)
	second, err2 := workflow.Wait[object](c, "second", "look", 30*time.Second)
	return []object{first, second}, errors.Join(err, err2)
}

func (w *world) webhook(c *workflow.Context) (any, error) {
	hook := workflow.CreateWebhook(c, "create")
	workflow.Run(c, "publish", func(context.Context) (workflow.None, error) {
		w.change(func() { w.hooks[c.RunID] = hook.URL })
		return workflow.None{}, nil
	})
	one, err := workflow.WaitForWebhook(c, "one", hook, 30*time.Second)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(one.Body)
	if err != nil {
		return nil, err
	}
	two, err := workflow.WaitForWebhook(c, "two", hook, 30*time.Second)
	if err != nil {
		return nil, err
	}
	_, late := workflow.WaitForWebhook(c, "three", hook, time.Second)
	return object{
		"seen": []string{one.Method, one.URL.RequestURI(), one.Header.Get("X-Mine"), string(body)}, "two": two.Method, "late": errors.Is(late, workflow.ErrTimeout),
	}, nil
}

type number struct{ X int }

type doubled struct {
	Twice  int
	Parent string
}

func (w *world) child() *workflow.Workflow[number, doubled] {
	return workflow.New("child", func(c *workflow.Context, in number) (doubled, error) {
		parent := c.Header.Get("X-Parent")
		return breaking(w, c, "double", "child "+parent, doubled{2 * in.X, parent}), nil
	})
}

type parentResult struct {
	Body             doubled
	Failed, Canceled bool
}

func (w *world) parent(child *workflow.Workflow[number, doubled]) *workflow.Workflow[number, parentResult] {
	return workflow.New("parent", func(c *workflow.Context, in number) (parentResult, error) {
		out, err := workflow.Invoke(c, "child", child, in, &workflow.RunOptions{Header: http.Header{"X-Parent": {c.RunID}}, Retries: workflow.NoRetries, RetryDelay: "10"})
		return parentResult{out, errors.Is(err, workflow.ErrFailed), errors.Is(err, workflow.ErrCanceled)}, nil
	})
}

// grandparent invokes what invokes, two of them in parallel.
func (w *world) grandparent(parent *workflow.Workflow[number, parentResult]) workflow.Definition {
	return workflow.New("grandparent", func(c *workflow.Context, _ []byte) (int, error) {
		invoke := func(name string, x int) *workflow.Future[parentResult] {
			return workflow.Go(c, func(c *workflow.Context) (parentResult, error) {
				return workflow.Invoke(c, name, parent, number{x}, quick(workflow.RunOptions{}))
			})
		}
		both, err := workflow.All(invoke("a", 1), invoke("b", 10))
		if err != nil {
			return 0, err
		}
		last, err := workflow.Invoke(c, "c", parent, number{both[0].Body.Twice + both[1].Body.Twice}, quick(workflow.RunOptions{}))
		return last.Body.Twice, err
	})
}

func (w *world) patient(waiter *workflow.Workflow[waitInput, object]) workflow.Definition {
	type input struct{ Event, Child string }
	return workflow.New("patient", func(c *workflow.Context, in input) (object, error) {
		out, err := workflow.Invoke(c, "waiter", waiter, waitInput{Event: in.Event}, quick(workflow.RunOptions{RunID: in.Child}))
		return object{"canceled": errors.Is(err, workflow.ErrCanceled), "failed": errors.Is(err, workflow.ErrFailed), "body": out}, nil
	})
}
