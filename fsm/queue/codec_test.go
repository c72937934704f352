package queue

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// fill sets every field of v, exported or not, to something that is not its zero value.
func fill(v reflect.Value, n *int, depth int) {
	if v.Type() == reflect.TypeFor[payload.Payload]() || v.Type() == reflect.TypeFor[*payload.Payload]() {
		return // bytes that are apart are those of another field
	}
	*n++
	v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem() // fields that are not exported too
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("text " + string(rune('a'+*n%26)))
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[[]byte]() {
			v.SetBytes([]byte("bytes"))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), n, depth)
		}
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*Callback]() {
			if depth > 0 {
				return // a callback has none of its own
			}
			depth++
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n, depth)
		if c, ok := v.Interface().(*Callback); ok {
			c.Options.Queue, c.Options.CommitAs, c.Options.Hops, c.Options.Gather, c.Options.OnFailure = "", "", 0, nil, DeadLetter
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n, depth)
		}
	default:
		panic("a kind of field that the test doesn't know: " + v.Kind().String())
	}
}

// TestRoundTrips fills every field of everything that is coded, and expects all of it back. A field that was added
// without a codec fails here.
func TestRoundTrips(t *testing.T) {
	for _, v := range []wire.Record{
		&Publication{}, &Publications{}, &Receipts{}, &Content{}, &Options{}, &Attempt{Content: &Content{}}, &Results{}, &Dispositions{},
		&Renewal{}, &Renewed{}, &Cancellation{}, &Cancelled{}, &DeadSelection{}, &DeadDeleted{}, &DeadRetry{}, &DeadRetried{},
		&QueueChange{}, &Queue{}, &GroupChange{}, &Group{}, &FlowControlChange{}, &FlowControlInfo{}, &FlowKey{}, &SchedulePut{}, &Schedule{},
		&ScheduleChange{}, &ScheduleRef{}, &Tick{}, &Parallelism{}, &Rotation{}, &Keys{}, &Settings{}, &Filter{}, &Dead{},
	} {
		n := 0
		fill(reflect.ValueOf(v).Elem(), &n, 0)
		var w wire.Writer
		w.Put(v)
		again := reflect.New(reflect.TypeOf(v).Elem()).Interface().(wire.Record)
		r := wire.NewReader(w.B)
		if r.Get(again); r.Done() != nil {
			t.Errorf("%T: %v", v, r.Done())
		}
		if !reflect.DeepEqual(v, again) {
			t.Errorf("%T\nhave %+v\nwant %+v", v, again, v)
		}
		short := reflect.New(reflect.TypeOf(v).Elem()).Interface().(wire.Record)
		r = wire.NewReader(nil) // an empty record reads as zero
		if r.Get(short); r.Done() != nil {
			t.Errorf("%T, empty: %v", v, r.Done())
		}
	}
}

// TestRecordsRoundTrip does the same for the records of messages and events.
func TestRecordsRoundTrip(t *testing.T) {
	var m Message
	n := 0
	fill(reflect.ValueOf(&m).Elem(), &n, 0)
	c := &Content{}
	fill(reflect.ValueOf(c).Elem(), &n, 0)
	m.setContent(c, nil, nil)
	m.place = placeActive
	var out wire.Writer
	out.Put(&m)
	r := wire.NewReader(out.B)
	again := &Message{}
	r.Get(again)
	again.setContent(again.Content(), nil, nil)
	if !bytes.Equal(m.head.Bytes(), again.head.Bytes()) || !bytes.Equal(m.apart().Bytes(), again.apart().Bytes()) {
		t.Errorf("%+v is read as %+v", m.Content(), again.Content())
	}
	again.head, again.body = m.head, m.body // equal bytes, elsewhere
	if r.Done() != nil || !reflect.DeepEqual(&m, again) {
		t.Errorf("%v\nhave %+v\nwant %+v", r.Done(), again, &m)
	}
	var v Event
	fill(reflect.ValueOf(&v).Elem(), &n, 0)
	out.B = nil
	out.Put(&v)
	r = wire.NewReader(out.B)
	event := &Event{}
	r.Get(event)
	if r.Done() != nil || !reflect.DeepEqual(&v, event) {
		t.Errorf("%v\nhave %+v\nwant %+v", r.Done(), again, &v)
	}
}

// FuzzDecode feeds arguments of operations and records of snapshots with anything.
func FuzzDecode(f *testing.F) {
	s := New()
	w := newWorld(f)
	w.s = s
	p := url("a")
	p.Callback, p.Given = &Callback{URL: "http://c.example"}, GivenCallback
	w.publish(p)
	for _, r := range records(f, s) {
		f.Add(r)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, v := range []wire.Record{&Publications{}, &Results{}, &Cancellation{}, &DeadRetry{}, &GroupChange{}, &SchedulePut{}, &Tick{}, &Renewal{}} {
			wire.NewReader(data).Get(v)
		}
		_ = New().Load(data)
	})
}

// TestIDs reads back what it writes, and nothing else.
func TestIDs(t *testing.T) {
	for _, id := range []ID{{1, 2}, {1<<64 - 1, 1<<64 - 1}, {0, 1}} {
		if again, ok := ParseID(id.String()); !ok || again != id || len(id.String()) != 26 {
			t.Errorf("%v: %s %v", id, id, again)
		}
	}
	for _, s := range []string{"", "msg_", "msg_zzzzzzzzzzzzzzzzzzzzzz", "msg_1111111111111111111110", "x" + ID{1, 1}.String(), ID{1, 1}.String() + "1"} {
		if _, ok := ParseID(s); ok {
			t.Errorf("%q was read", s)
		}
	}
	if at, ok := ParseStamp("1700000000000-42"); !ok || at != (Stamp{1700000000000, 42}) || at.String() != "1700000000000-42" {
		t.Error(at, ok)
	}
	for _, s := range []string{"", "1", "-1-2", "1-", "a-b", "1--2"} {
		if _, ok := ParseStamp(s); ok {
			t.Errorf("%q was read", s)
		}
	}
}
