package command_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/env"
)

var trusted = acl.Trusted(acl.DefaultName)

// listen makes r's machine hand over the events of every entry, of all classes, from now
// on. What one entry tells is a line for each event: its name and the key.
func (r *replica) listen(classes string) *[]string {
	r.t.Helper()
	events := new([]string)
	r.hear(events)
	r.index++
	book := fsm.Subscribers{Hub: 1, Serial: 1, Counts: []fsm.SubscriberCount{{Ref: channel.Ref{DB: fsm.DefaultDB, Kind: channel.Pattern, Name: "__keyevent@0__:*"}, Count: 1}}}
	entry := fsm.Entry{Stamp: scripttest.Start, Term: 1, Requests: []fsm.Request{{Code: fsm.Subscribe.Code, Body: fsm.Subscribe.Body(book)}}}
	if _, err := r.m.Apply(r.index, 1, entry.Encode()); err != nil {
		r.t.Fatal(err)
	}
	s := scripttest.Step{Origin: command.RESP, As: trusted}
	r.apply(scripttest.Start, &s, fsm.Single, line("CONFIG SET notify-keyspace-events "+classes))
	*events = nil
	return events
}

// hear makes r's machine add the events of every entry to the list.
func (r *replica) hear(events *[]string) {
	r.m.Hooks.Notifications = func(notes []env.Notification) {
		for _, n := range notes {
			if event, found := strings.CutPrefix(n.Channel, "__keyevent@0__:"); found {
				*events = append(*events, event+" "+n.Message)
			}
		}
	}
}

// line is the words of a command.
func line(text string) [][]byte {
	argv, err := scripttest.Split(text)
	if err != nil {
		panic(err)
	}
	return argv
}

// TestEvents runs the scripts of testdata/events, whose commands are followed by their
// events in place of their replies: alone, as transactions, and across restored snapshots.
func TestEvents(t *testing.T) {
	for _, path := range eventFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			steps := readScript(t, path)
			t.Run("plainly", func(t *testing.T) { eventsPlainly(t, steps, false) })
			t.Run("snapshots", func(t *testing.T) { eventsPlainly(t, steps, true) })
			t.Run("transactions", func(t *testing.T) { eventsOfTransactions(t, steps) })
		})
	}
}

func eventFiles(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/events/*.events")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	return paths
}

func eventsPlainly(t *testing.T, steps []scripttest.Step, restore bool) {
	r, now := newReplica(t), int64(scripttest.Start)
	events := r.listen("EAmn")
	for i := range steps {
		s := &steps[i]
		now += s.After
		v := r.apply(now, s, fsm.Single, s.Argv)[0]
		if got := strings.Join(*events, "\n"); got != s.Want {
			t.Errorf("line %d: %s: %s\ngot:\n%s\nwant:\n%s", s.Line, s.Text, scripttest.Print(v), got, s.Want)
		}
		if *events = nil; restore {
			r.restore()
			r.hear(events)
		}
	}
}

// eventsOfTransactions runs everything between two moments as one transaction.
func eventsOfTransactions(t *testing.T, steps []scripttest.Step) {
	r, now := newReplica(t), int64(scripttest.Start)
	events := r.listen("EAmn")
	for len(steps) > 0 {
		now += steps[0].After
		n := 1
		for n < len(steps) && steps[n].After == 0 {
			n++
		}
		var rows [][][]byte
		var want []string
		for _, s := range steps[:n] {
			rows = append(rows, s.Argv)
			if s.Want != "" {
				want = append(want, s.Want)
			}
		}
		r.apply(now, &steps[0], fsm.Transaction, rows...)
		if got := strings.Join(*events, "\n"); got != strings.Join(want, "\n") {
			t.Errorf("lines %d on:\ngot:\n%s\nwant:\n%s", steps[0].Line, got, strings.Join(want, "\n"))
		}
		*events, steps = nil, steps[n:]
	}
}

// TestNoEventsUnasked: without the parameter, without its letters for the channels and
// without subscribers nothing is told, and the sweep tells nothing either.
func TestNoEventsUnasked(t *testing.T) {
	for _, classes := range []string{`""`, "A", "E", "Kl", "El"} {
		r := newReplica(t)
		events := r.listen(classes)
		s := scripttest.Step{Origin: command.RESP, As: trusted}
		r.apply(scripttest.Start, &s, fsm.Pipeline, line("SET k v PX 5"), line("HSET h f v"), line("DEL h"), line("GET nothing"))
		r.apply(scripttest.Start+10, &s, fsm.Single, line("PING"))
		if len(*events) > 0 {
			t.Errorf("%s: %v", classes, *events)
		}
	}
}

// TestEventsNeedSubscribers: an entry that nobody hears leaves no notes.
func TestEventsNeedSubscribers(t *testing.T) {
	r := newReplica(t)
	s := scripttest.Step{Origin: command.RESP, As: trusted}
	r.m.Hooks.Notifications = func(notes []env.Notification) { t.Errorf("%v", notes) }
	r.apply(scripttest.Start, &s, fsm.Pipeline, line("CONFIG SET notify-keyspace-events KEAmn"), line("SET k v"), line("DEL k"))
}
