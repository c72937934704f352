package sim

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// judge compares the replies that clients received with the cluster's final state.
func (w *world) judge() {
	w.compare()
	n := w.nodes[w.leader]
	n.machine.View(n.life.clock.Peek(), [16]byte{}, func(v *fsm.View) {
		for _, key := range []string{"list0", "list1"} {
			w.judgeList(key, elements(v, key))
		}
		w.judgeCount(v)
		w.judgeMessages(v)
		w.judgeRuns(v)
	})
}

// judgeList: what was acknowledged is there at its place, nothing is there twice, what was refused is not there, and the
// order is the order in which the requests were made. Every read has seen a prefix of it, with all that was acknowledged
// before and nothing that came later.
func (w *world) judgeList(key string, list []string) {
	place := map[string]int{}
	for i, mark := range list {
		if _, twice := place[mark]; twice {
			w.fail("once", "%s was appended to %s twice", mark, key)
		}
		place[mark] = i
	}
	pushes := w.pushes(key)
	for _, o := range pushes {
		at, there := place[o.mark]
		switch {
		case o.state == done && !there:
			w.fail("durable", "%s was acknowledged and is not in %s", o.mark, key)
		case o.state == refused && there && o.kind == Push:
			w.fail("outcome", "%s was refused and is in %s", o.mark, key)
		case o.state == done:
			if got, ok := number(o); ok && int(got) != at+1 {
				w.fail("answer", "%s stands at %d of %s, the answer was %d", o.mark, at+1, key, got)
			}
		}
	}
	w.judgeOrder(pushes, place, key)
	for _, r := range w.seen {
		if r.key == key {
			w.judgeView(r, pushes, place, list)
		}
	}
}

func (w *world) pushes(key string) (list []*operation) {
	for _, o := range w.all {
		if o.key == key && (o.kind == Push || o.kind == PushOnce) {
			list = append(list, o)
		}
	}
	return list
}

// judgeOrder: who began after another was acknowledged stands behind it, unless it repeats one from before.
func (w *world) judgeOrder(pushes []*operation, place map[string]int, key string) {
	first := map[string]int{}
	for _, o := range pushes {
		if at, some := first[o.mark]; !some || o.begun < at {
			first[o.mark] = o.begun
		}
	}
	for _, a := range pushes {
		for _, b := range pushes {
			at, found := place[b.mark]
			if a.state == done && found && a.end < first[b.mark] && at < place[a.mark] {
				w.fail("order", "%s stands before %s in %s, which was acknowledged before it was asked for", b.mark, a.mark, key)
			}
		}
	}
}

func (w *world) judgeView(r *view, pushes []*operation, place map[string]int, list []string) {
	if len(r.list) > len(list) || !slices.Equal(r.list, list[:len(r.list)]) {
		w.fail("reads", "a read of %s has seen %v, which is no beginning of %v", r.key, r.list, list)
		return
	}
	for _, o := range pushes {
		if at, found := place[o.mark]; found && o.state == done && o.end < r.begun && at >= len(r.list) {
			w.fail("reads", "a read of %s at step %d has not seen %s, which was acknowledged at step %d", r.key, r.begun, o.mark, o.end)
		}
	}
}

// judgeCount: the counter has counted each acknowledged request once, and of the others at most those of unknown
// outcome.
func (w *world) judgeCount(v *fsm.View) {
	q := batch("GET", "count")
	value, _ := strconv.Atoi(v.Exec(q.As, q.Origin, q.Rows[0]).Text())
	acknowledged, open, seen := 0, 0, map[int64]bool{}
	for _, o := range w.all {
		if o.kind != Count {
			continue
		}
		switch got, ok := number(o); {
		case o.state == unknown:
			open++
		case o.state == done && ok:
			acknowledged++
			if seen[got] || got > int64(value) {
				w.fail("once", "two requests were answered that they have counted to %d, of %d", got, value)
			}
			seen[got] = true
		}
	}
	if value < acknowledged || value > acknowledged+open {
		w.fail("once", "the counter stands at %d: %d requests were acknowledged, of %d the outcome is unknown", value, acknowledged, open)
	}
}

// judgeMessages: each publication has made at most one message, or one in each window of its id; each message is final, and
// the dead letters are those that have failed.
func (w *world) judgeMessages(v *fsm.View) {
	byKey := map[string][]made{}
	for _, o := range w.all {
		switch o.kind {
		case Publish, Enqueue:
			w.judgePublication(o, w.once[o.mark], 0)
		case PublishOnce:
			if o.mark == strconv.Itoa(o.id) { // not a repetition
				byKey[o.key] = append(byKey[o.key], w.once[o.mark]...)
			}
		}
	}
	window := v.Messages().Settings().DedupWindow
	for _, o := range w.all {
		if o.kind == PublishOnce {
			w.judgePublication(o, byKey[o.key], window)
		}
	}
	for _, id := range w.order {
		if m := w.messages[id]; !m.ended && !w.cancels[id] {
			w.fail("delivery", "%v was published and is neither delivered nor dead", id)
		}
	}
	w.judgeDead(v)
	w.judgePlans()
}

// judgePublication compares what a publication was answered with the messages that were sent.
func (w *world) judgePublication(o *operation, all []made, window int64) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b made) int { return int(a.at - b.at) })
	for i := 1; i < len(all); i++ {
		if window == 0 || all[i].at-all[i-1].at < window {
			w.fail("once", "two messages were made of one publication: %v and %v", all[i-1].id, all[i].id)
		}
	}
	out, ok := o.value.(queue.Receipts)
	switch {
	case o.state == refused && o.kind != PublishOnce && len(all) > 0:
		w.fail("outcome", "publication %s was refused and has made %v", o.mark, all[0].id)
	case o.state == done && ok && out.Items[0].Refused == nil:
		id := out.Items[0].Messages[0].ID
		if !w.cancels[id] && !slices.ContainsFunc(all, func(m made) bool { return m.id == id }) {
			w.fail("durable", "publication %s was acknowledged as %v, which was never sent", o.mark, id)
		}
	}
}

func (w *world) judgeDead(v *fsm.View) {
	list, _, _ := v.Messages().DeadLetters(nil, &queue.Filter{}, queue.Page{Limit: 10_000})
	dead := map[queue.ID]bool{}
	for _, d := range list {
		id := d.Message.ID
		dead[id] = true
		m := w.messages[id]
		if m == nil || m.final != queue.Failed {
			w.fail("delivery", "%v is a dead letter and has not failed", id)
		} else if retries := d.Message.Content.Retries; m.claims <= retries || m.answers == 0 {
			w.fail("delivery", "%v died after %d attempts with %d answers; %d retries were allowed", id, m.claims, m.answers, retries)
		}
	}
	for _, a := range w.sent {
		m := w.messages[a.ID]
		if len(a.Content.Run) == 0 && m.final == queue.Failed && !dead[a.ID] {
			w.fail("delivery", "%v has failed and is no dead letter", a.ID)
		}
		if len(a.Content.Run) == 0 && m.answers > 1+a.Content.Retries {
			w.fail("delivery", "%v was answered %d times; %d retries were allowed", a.ID, m.answers, a.Content.Retries)
		}
	}
}

// judgePlans: a schedule has made a message for each of its times, or for those that its misfire policy leaves.
func (w *world) judgePlans() {
	for id, p := range w.plans { // unordered: the first that fails is told, whichever that is
		if p.created == 0 {
			continue
		}
		times := max(p.last-p.created, 0) / p.every
		if p.made > times || p.misfire == queue.FireAll && p.made != times || times > 0 && p.made == 0 {
			w.fail("schedules", "%s has had %d times and made %d messages", id, times, p.made)
		}
	}
}

// judgeRuns: every run is over, its log holds one result of each step, waiters are answered once, and no dead run was
// revived twice.
func (w *world) judgeRuns(v *fsm.View) {
	list, _, _ := v.Workflows().Runs(&workflow.Filter{}, workflow.Page{Limit: 10_000})
	revived := map[uint64]string{}
	entries, woken := map[queue.ID]bool{}, map[queue.ID]bool{}
	for _, id := range w.woken { // unordered: a set is made
		woken[id] = true
	}
	for _, r := range list {
		if r.Active() {
			w.fail("runs", "%s has %d entries and never ends", r.ID, r.Entries)
		}
		if other, twice := revived[r.RanAs]; twice && r.RanAs != 0 {
			w.fail("runs", "%s and %s were made of one dead run", other, r.ID)
		}
		revived[r.RanAs] = r.ID
		seen := map[uint32]bool{}
		v.Workflows().Log(r.No, func(pos uint32, e *workflow.Entry) bool {
			entries[e.ID] = true
			if e.Step.ID > 0 && seen[e.Step.ID] {
				w.fail("steps", "%s has two results of step %d", r.ID, e.Step.ID)
			}
			seen[e.Step.ID] = true
			if e.State == workflow.Unfinished {
				if r.State != workflow.Canceled {
					w.fail("waiters", "step %d of %s ended as that of a cancelled run, and the run is %v", e.Step.ID, r.ID, r.State)
				}
				return true // it can't be answered any more
			}
			if e.Step.Type == workflow.Wait && !bytes.Contains(e.Body.Bytes(), []byte("waitTimeout")) && !woken[e.ID] && r.RanAs == 0 {
				w.fail("waiters", "step %d of %s was answered by nobody", e.Step.ID, r.ID)
			}
			return true
		})
	}
	for key, id := range w.results { // unordered: the first that fails is told
		if !entries[id] && !w.cut(v, key) {
			w.fail("steps", "the accepted result of step %d of %s is in no log", key.step, key.run)
		}
	}
	for no, id := range w.woken { // unordered: the same
		if !entries[id] {
			w.fail("waiters", "waiter %d was woken and its run does not know", no)
		}
	}
}

// cut reports whether a run had room for no more, so that results were dropped: that of a failed run.
func (w *world) cut(v *fsm.View, key stepKey) bool {
	r := v.Workflows().Find(key.run, key.created)
	return r == nil || r.State == workflow.Failed
}

// left says what a cluster that never rests still has to do.
func (w *world) left() string {
	text := fmt.Sprintf("the cluster does not come to rest: %d packets, %d requests, %d attempts, %d entries to commit", len(w.packets), len(w.open), len(w.running), len(w.log)-int(w.committed))
	for _, n := range w.nodes {
		text += fmt.Sprintf("; %s lacks %d entries and has %d requests, %d results", n.name(), int(w.committed-n.applied), n.life.ledger.Pending(), len(n.life.results))
	}
	n := w.nodes[w.leader]
	n.machine.View(0, [16]byte{}, func(v *fsm.View) { text += fmt.Sprintf("; messages: %+v", v.Messages().Counts()) })
	return text
}

// shown is an outcome as a text that can be compared.
func shown(o *fsm.Outcome) string {
	var b wire.Writer
	fsm.EncodeOutcomes(&b, []fsm.Outcome{*o})
	return string(b.B)
}
