package flow_test

import (
	"reflect"
	"testing"

	"trireme/fsm/env"
	"trireme/fsm/flow"
	"trireme/fsm/queue"
	"trireme/fsm/wire"
)

// coded is a record of an operation.
type coded interface {
	Encode(*wire.Writer)
	Decode(*wire.Reader)
}

// TestRecordsRoundTrip fills every field of every argument and result and expects to read what was written.
func TestRecordsRoundTrip(t *testing.T) {
	for _, v := range []coded{
		&flow.Submissions{}, &flow.Receipts{}, &flow.Await{}, &flow.Notification{}, &flow.Ending{}, &flow.RunRef{}, &flow.Cancellation{}, &flow.Cancelled{},
		&flow.Revival{}, &flow.Revived{}, &flow.DeadSelection{}, &flow.DeadDeleted{}, &flow.CallbackChange{}, &flow.Settings{},
	} {
		n := 0
		fill(reflect.ValueOf(v).Elem(), &n, 0)
		var w wire.Writer
		v.Encode(&w)
		again := reflect.New(reflect.TypeOf(v).Elem()).Interface().(coded)
		r := wire.NewReader(w.B)
		again.Decode(r)
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
		if own && (name == "Callback" || name == "Failure" || name == "Queue") {
			continue
		}
		fill(v.Field(i), n, callbacks)
	}
}

// FuzzOperations applies whatever can be decoded: an error or an outcome, never a panic, and what is left is saved and
// loaded.
func FuzzOperations(f *testing.F) {
	for _, n := range []flow.Submission{start("r"), step("r", 1, "a"), plan("r", 2, 2), call("r", 3)} {
		var w wire.Writer
		(&flow.Submissions{Items: []flow.Submission{n}}).Encode(&w)
		f.Add(byte(0), w.B)
	}
	for i, v := range []coded{&flow.Await{RunID: "r", EventID: "e"}, &flow.Notification{EventID: "e"}, &flow.Ending{RunID: "r"}, &flow.Cancellation{}, &flow.Revival{}} {
		var w wire.Writer
		v.Encode(&w)
		f.Add(byte(i+1), w.B)
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		w := newWorld(t)
		w.submit(start("r"), step("r", 1, "a"), call("r", 2))
		w.advance()
		fuzzed(w, which%6, wire.NewReader(data))
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
		var n flow.Submissions
		n.Decode(r)
		apply(w, func(e *env.Env, p pair) (flow.Receipts, error) { return p.s.Submit(e, p.q, n) })
	case 1:
		var n flow.Await
		n.Decode(r)
		apply(w, func(e *env.Env, p pair) (flow.Receipt, error) { return p.s.Await(e, p.q, n) })
	case 2:
		var n flow.Notification
		n.Decode(r)
		apply(w, func(e *env.Env, p pair) (int, error) { out, err := p.s.Notify(e, p.q, n); return len(out.Woken), err })
	case 3:
		var n flow.Ending
		n.Decode(r)
		apply(w, func(e *env.Env, p pair) (flow.RunRef, error) { return p.s.End(e, p.q, n) })
	case 4:
		var n flow.Cancellation
		n.Decode(r)
		apply(w, func(e *env.Env, p pair) (flow.Cancelled, error) { return p.s.Cancel(e, p.q, n) })
	default:
		var n flow.Revival
		n.Decode(r)
		apply(w, func(e *env.Env, p pair) (flow.Revived, error) { return p.s.Revive(e, p.q, n) })
	}
}
