package workflow_test

import (
	"reflect"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// TestRecordsRoundTrip fills every field of every argument and result and expects to read what was written.
func TestRecordsRoundTrip(t *testing.T) {
	for _, v := range []wire.Record{
		&workflow.Submissions{}, &workflow.Receipts{}, &workflow.Await{}, &workflow.Notification{}, &workflow.Ending{}, &workflow.RunRef{}, &workflow.Cancellation{}, &workflow.Cancelled{},
		&workflow.Revival{}, &workflow.Revived{}, &workflow.DeadSelection{}, &workflow.DeadDeleted{}, &workflow.CallbackChange{}, &workflow.Settings{},
		&workflow.DeploymentChange{}, &workflow.Deployment{}, &workflow.RunMove{}, &workflow.RunsMoved{}, &workflow.Forking{},
	} {
		n := 0
		fill(reflect.ValueOf(v).Elem(), &n, 0)
		var w wire.Writer
		w.Put(v)
		again := reflect.New(reflect.TypeOf(v).Elem()).Interface().(wire.Record)
		r := wire.NewReader(w.B)
		r.Get(again)
		if err := r.Done(); err != nil {
			t.Errorf("%T: %v", v, err)
		}
		if !reflect.DeepEqual(v, again) {
			t.Errorf("%T:\nwrote %+v\nread  %+v", v, v, again)
		}
	}
}

// fill sets every field to something small that is not zero. A callback has no callbacks of its own.
func fill(v reflect.Value, n *int, callbacks int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(string(rune('a' + *n%26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(int64(1 + *n%3))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64, reflect.Uint:
		v.SetUint(uint64(1 + *n%3))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n, callbacks)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n, callbacks)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[payload.Payload]() {
			if v.CanSet() { // otherwise it holds bytes of another field, apart
				v.Set(reflect.ValueOf(payload.New([]byte("bytes"), nil)))
			}
			return
		}
		fillStruct(v, n, callbacks)
	}
}

func fillStruct(v reflect.Value, n *int, callbacks int) {
	if v.Type() == reflect.TypeFor[queue.Callback]() {
		callbacks++
	}
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		own := v.Type() == reflect.TypeFor[queue.Options]() && callbacks > 0
		if own && (name == "Callback" || name == "Failure" || name == "Queue" || name == "CommitAs" || name == "Hops" || name == "Gather" || name == "OnFailure") {
			continue
		}
		fill(v.Field(i), n, callbacks)
	}
}

// FuzzOperations applies whatever can be decoded: an error or an outcome, never a panic, and what is left is saved and
// loaded.
func FuzzOperations(f *testing.F) {
	for _, n := range []workflow.Submission{start("r"), step("r", 1, "a"), plan("r", 2, 2), call("r", 3)} {
		var w wire.Writer
		w.Put(&workflow.Submissions{Items: []workflow.Submission{n}})
		f.Add(byte(0), w.B)
	}
	for i, v := range []wire.Record{&workflow.Await{RunID: "r", EventID: "e"}, &workflow.Notification{EventID: "e"}, &workflow.Ending{RunID: "r"}, &workflow.Cancellation{}, &workflow.Revival{}, &workflow.Forking{No: 1, Entries: 2, Of: workflow.ForkSource{RunID: "r", Created: 1_790_000_000_000}}} {
		var w wire.Writer
		w.Put(v)
		f.Add(byte(i+1), w.B)
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		w := newWorld(t)
		w.submit(start("r"), step("r", 1, "a"), call("r", 2))
		w.advance()
		fuzzed(w, which%7, wire.NewReader(data))
		w.advance()
		for len(w.running) > 0 {
			a := w.running[0]
			w.pairs[0].s.Delivery(a.ID, a.Content.Run)
			w.finish(0, queue.Response{Status: 489, Header: []queue.Field{{Name: "Upstash-NonRetryable-Error", Value: "true"}}}, "")
		}
		w.restore(1)
		w.same()
	})
}

// fuzzed applies what can be decoded as an operation.
func fuzzed(w *world, which byte, r *wire.Reader) {
	switch which {
	case 0:
		var n workflow.Submissions
		r.Get(&n)
		apply(w, func(e *env.Env, p pair) (workflow.Receipts, error) { return p.s.Submit(e, p.q, n) })
	case 1:
		var n workflow.Await
		r.Get(&n)
		apply(w, func(e *env.Env, p pair) (workflow.Receipt, error) { return p.s.Await(e, p.q, n) })
	case 2:
		var n workflow.Notification
		r.Get(&n)
		apply(w, func(e *env.Env, p pair) (int, error) { out, err := p.s.Notify(e, p.q, n); return len(out.Woken), err })
	case 3:
		var n workflow.Ending
		r.Get(&n)
		apply(w, func(e *env.Env, p pair) (workflow.RunRef, error) { return p.s.End(e, p.q, n) })
	case 4:
		var n workflow.Cancellation
		r.Get(&n)
		apply(w, func(e *env.Env, p pair) (workflow.Cancelled, error) { return p.s.Cancel(e, p.q, n) })
	case 6:
		var n workflow.Forking
		r.Get(&n)
		apply(w, func(e *env.Env, p pair) (workflow.RunRef, error) { return p.s.ForkRun(e, p.q, n) })
	default:
		var n workflow.Revival
		r.Get(&n)
		apply(w, func(e *env.Env, p pair) (workflow.Revived, error) { return p.s.Revive(e, p.q, n) })
	}
}
