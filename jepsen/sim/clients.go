package sim

import (
	"errors"
	"slices"
	"strconv"

	"github.com/trireme-dev/trireme/cluster/clock"
	"github.com/trireme-dev/trireme/cluster/session"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// clients holds the clients of a history and the replies that they received.
type clients struct {
	all  []*operation
	open []*operation // without an outcome
	seen []*view
	// gone are keys that a read has found expired, and when that read ended.
	gone map[string]int
	// kept are keys that are to stay, by the operations that have asked for it.
	kept map[string]*operation
}

// state says how far a client's request is, as far as the client knows.
type state uint8

const (
	waits   state = iota
	done          // there is an answer
	refused       // it was certainly not applied
	unknown       // it may have been applied, or may be
)

// operation is one request of a client.
type operation struct {
	id      int
	kind    Kind
	key     string
	mark    string // the value that it writes: its own id, or that of the request that it repeats
	until   int64  // of SetUntil, unix milliseconds
	lasting bool   // the key was given a duration, which ends no earlier
	code    uint16
	body    []byte
	life    *life
	call    *session.Call
	after   func(*operation) // called at the end

	state      state
	begun, end int
	value      any
	err        error
}

// submit puts an operation's request into the ledger of a node.
func (w *world) submit(n *node, o *operation) *operation {
	o.id, o.begun = len(w.all), w.moment
	if o.mark == "" {
		o.mark = strconv.Itoa(o.id)
	}
	w.all = append(w.all, o)
	if n.life == nil {
		o.state, o.end = refused, w.moment
		return o
	}
	c, err := n.life.ledger.Add(o.code, o.body)
	if err != nil {
		o.state, o.err, o.end = refused, err, w.moment
		return o
	}
	o.life, o.call = n.life, c
	w.open = append(w.open, o)
	return o
}

// collect takes in what requests have come to.
func (w *world) collect() {
	for len(w.open) > 0 {
		before := len(w.open)
		open := w.open
		w.open = nil
		for _, o := range open {
			select {
			case r := <-o.call.Done():
				w.ended(o, r)
			default:
				w.open = append(w.open, o)
			}
		}
		if len(w.open) == before {
			break
		}
	}
	for _, n := range w.nodes {
		if n.life != nil {
			n.life.collect()
		}
	}
}

// ended notes an outcome.
func (w *world) ended(o *operation, r session.Result) {
	o.end, o.value, o.err = w.moment, r.Value, r.Err
	var said *fsm.Error
	switch {
	case r.Err == nil, errors.As(r.Err, &said):
		o.state = done
	case errors.Is(r.Err, fsm.ErrUnknown):
		o.state = unknown
	default:
		o.state = refused
	}
	if o.after != nil {
		o.after(o)
	}
}

// lost ends the requests of a process that has died: they get no answer.
func (w *world) lost(l *life) {
	w.open = slices.DeleteFunc(w.open, func(o *operation) bool {
		if o.life == l {
			w.ended(o, session.Result{Err: fsm.ErrUnknown})
		}
		return o.life == l
	})
}

// batch is a request of one command.
func batch(words ...string) fsm.Batch {
	row := make([][]byte, len(words))
	for i, word := range words {
		row[i] = []byte(word)
	}
	return fsm.Batch{As: acl.Trusted(acl.DefaultName), Rows: [][][]byte{row}}
}

func exec(o *operation, b fsm.Batch) *operation {
	o.code, o.body = fsm.Exec.Code, fsm.Exec.Body(b)
	return o
}

// ask has a client begin a request at a node.
func (w *world) ask(n *node, kind Kind, b, c int) {
	id := strconv.Itoa(len(w.all))
	list := "list" + strconv.Itoa(b%2)
	switch kind {
	case Push:
		w.submit(n, exec(&operation{kind: kind, key: list}, batch("RPUSH", list, id)))
	case PushOnce:
		q := batch("RPUSH", list, id)
		q.Retry = q.IdempotencyKey("push " + id)
		w.submit(n, exec(&operation{kind: kind, key: list}, q))
	case Count:
		w.submit(n, exec(&operation{kind: kind, key: "count"}, batch("INCR", "count")))
	case SetUntil:
		until := w.clock() + int64(1+b%250)
		if c%4 == 0 {
			until += int64(b % 6000)
		}
		o, option, at := &operation{kind: kind, key: "until " + id, until: until}, "PXAT", until
		if l := w.known(); b%2 == 1 && l != nil && l.life.opened { // otherwise nobody has said what time it is
			o.lasting, option, at = true, "PX", until-w.clock()
			o.until = l.machine.Clock() + at // the next leader may begin there
		}
		w.submit(n, exec(o, batch("SET", o.key, "v", option, strconv.FormatInt(at, 10))))
	case Keep:
		w.keep(n, b)
	case Again:
		w.again(n, b)
	case Publish, PublishOnce, Enqueue, CancelMessage, Schedule:
		w.askMessages(n, kind, id, b, c)
	default:
		w.askRuns(n, kind, id, b, c)
	}
}

// again repeats a request of which the outcome is not known, if it has an id.
func (w *world) again(n *node, which int) {
	var list []*operation
	for _, o := range w.all {
		if o.state == unknown && (o.kind == PushOnce || o.kind == PublishOnce) {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		return
	}
	o := list[which%len(list)]
	w.submit(n, &operation{kind: o.kind, key: o.key, mark: o.mark, code: o.code, body: o.body})
}

// clock is cluster time as the leader shows it.
func (w *world) clock() int64 {
	if n := w.known(); n != nil && n.life.opened {
		return n.life.clock.Peek()
	}
	return w.nodes[0].wall(w.now())
}

// reading is a read that waits for its node to have applied an index.
type reading struct {
	key     string
	until   int64
	lasting bool
	index   uint64
	at      env.Time
	begun   int
}

// view is the result of a read.
type view struct {
	key        string
	begun, end int
	list       []string
}

// point asks the leader for a read point; false if there is none now. A deposed leader
// gives none, because no majority confirms it.
func (w *world) point() (index uint64, at env.Time, ok bool) {
	n := w.known()
	if n == nil || n.cut || !n.life.opened || n.life.leads != w.term {
		return 0, at, false
	}
	at, _ = n.life.clock.ReadTime()
	limit := n.ceiling.Limit()
	if at.Now > limit.Now {
		n.sweep()
		return 0, at, false
	}
	at.Wall = min(at.Wall, limit.Wall)
	return w.committed, at, true
}

// read begins a linearizable read of a list.
func (w *world) read(n *node, key string) {
	if key == "" {
		key = "list" + strconv.Itoa(w.moment%2)
	}
	w.begin(n, &reading{key: key})
}

// readUntil begins one of a key that was set for a while.
func (w *world) readUntil(n *node, which int) {
	if o := w.chosen(which); o != nil {
		w.begin(n, &reading{key: o.key, until: o.until, lasting: o.lasting})
	}
}

// chosen is one of the newest keys that were set for a while, nil if there is none.
func (w *world) chosen(which int) *operation {
	var set []*operation
	for _, o := range w.all {
		if o.kind == SetUntil && o.state == done {
			set = append(set, o)
		}
	}
	if len(set) == 0 {
		return nil
	}
	return set[len(set)-1-which%min(len(set), 3)]
}

// keep has a client ask, once, that a key stays that was set for a while. The answer says whether it was still there: it
// is never found gone then, by no read, and never there again otherwise.
func (w *world) keep(n *node, which int) {
	set := w.chosen(which)
	if set == nil || w.kept[set.key] != nil {
		return
	}
	o := exec(&operation{kind: Keep, key: set.key}, batch("PERSIST", set.key))
	o.after = func(o *operation) {
		got, ok := number(o)
		_, before := w.gone[o.key]
		switch {
		case ok && got == 1 && before:
			w.fail("expiry", "%q was kept, and a read has found it gone", o.key)
		case ok && got == 0 && !before:
			w.leave(o.key)
		}
	}
	if w.kept == nil {
		w.kept = map[string]*operation{}
	}
	w.kept[set.key] = w.submit(n, o)
}

// stays reports whether a key may have been kept, and whether it certainly was.
func (w *world) stays(key string) (perhaps, surely bool) {
	o := w.kept[key]
	if o == nil || o.state == refused {
		return false, false
	}
	got, ok := number(o)
	return !ok || got == 1, ok && got == 1
}

// leave notes that a key was found gone.
func (w *world) leave(key string) {
	if w.gone == nil {
		w.gone = map[string]int{}
	}
	w.gone[key] = w.moment
}

func (w *world) begin(n *node, r *reading) {
	var ok bool
	if n.life == nil || n.cut && w.leader != n.id {
		return
	}
	if r.index, r.at, ok = w.point(); !ok {
		return
	}
	r.begun = w.moment
	n.life.reads = append(n.life.reads, r)
	n.served()
}

// served answers the reads whose index the node has reached.
func (n *node) served() {
	if n.life == nil {
		return
	}
	n.life.reads = slices.DeleteFunc(n.life.reads, func(r *reading) bool {
		if n.applied >= r.index {
			n.machine.ViewFork(r.at, [16]byte{}, func(v *fsm.View) { n.w.saw(r, v) })
		}
		return n.applied >= r.index
	})
}

// saw judges or keeps what a read gives.
func (w *world) saw(r *reading, v *fsm.View) {
	if r.until == 0 {
		w.seen = append(w.seen, &view{r.key, r.begun, w.moment, elements(v, r.key)})
		return
	}
	q := batch("GET", r.key)
	exists := !v.Exec(q.As, q.Origin, q.Rows[0]).IsNil()
	perhaps, surely := w.stays(r.key)
	w.passWall()
	begun, end := v.Time().Wall, min(v.Time().Wall, v.Now()-w.setBack) // it was given a time of day, which may have become a duration
	if r.lasting {
		begun, end = v.Now(), 0
	}
	switch gone, before := w.gone[r.key]; {
	case !exists && surely:
		w.fail("expiry", "%q was found gone after it was kept", r.key)
	case exists && end > r.until && !perhaps:
		w.fail("expiry", "%q was seen %d ms after its time", r.key, end-r.until)
	case !exists && begun < r.until:
		w.fail("expiry", "%q was gone %d ms before its time", r.key, r.until-begun)
	case !exists && !r.lasting && r.until > w.wall+clock.ReadAhead:
		w.fail("early", "%q was gone %d ms before the wall clocks said so", r.key, r.until-w.wall)
	case exists && before && gone < r.begun:
		w.fail("expiry", "%q was seen again after a read had found it gone", r.key)
	case !exists && !before:
		w.leave(r.key)
	}
}

// elements is a list's content.
func elements(v *fsm.View, key string) (list []string) {
	q := batch("LRANGE", key, "0", "-1")
	r := v.Exec(q.As, q.Origin, q.Rows[0])
	for _, e := range r.Elems() {
		list = append(list, e.Text())
	}
	return list
}

// number is the integer that a command has answered.
func number(o *operation) (int64, bool) {
	r, ok := o.value.(fsm.Results)
	if !ok || len(r.Values) != 1 || r.Values[0].Kind() != reply.KindInt {
		return 0, false
	}
	return r.Values[0].Int(), true
}
