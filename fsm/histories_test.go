package fsm_test

import (
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// TestShortHistoriesAreNamed: events that give way to their bytes before half their time are short, and no longer so once they may take
// more, or have been kept for half their time, or need not be kept at all.
func TestShortHistoriesAreNamed(t *testing.T) {
	c := newDeliverer(t, 39)
	if _, err := propose(c, fsm.BootstrapState, founding("short", 1)); err != nil {
		t.Fatal(err)
	}
	short := func(limit int) (list []fsm.ShortHistory) {
		c.a.View(0, [16]byte{}, func(v *fsm.View) { list = v.ShortHistories(limit) })
		return list
	}
	configure := func(change func(*queue.Settings)) {
		t.Helper()
		n := queue.DefaultSettings()
		n.EventBytes = 20_000
		if change != nil {
			change(&n)
		}
		if _, err := propose(c, fsm.ConfigureMessages, n); err != nil {
			t.Fatal(err)
		}
	}
	configure(nil)
	for range 100 {
		r := c.publish(queue.Publication{URL: "http://example.com/", Body: []byte(strings.Repeat("b", 200))})
		if _, err := propose(c, fsm.CancelMessages, queue.Cancellation{IDs: []queue.ID{r.Messages[0].ID}}); err != nil {
			t.Fatal(err)
		}
	}
	list := short(10)
	if len(list) != 1 || list[0].Database != fsm.DefaultDB || list[0].Runs || list[0].Bound != queue.ByBytes || list[0].Bytes != 20_000 || list[0].Oldest == 0 {
		t.Fatalf("%+v", list)
	}
	if list := short(0); len(list) > 0 {
		t.Errorf("%+v although none was asked for", list)
	}
	for name, change := range map[string]func(*queue.Settings){
		"more bytes":   func(n *queue.Settings) { n.EventBytes = 1 << 20 },
		"any bytes":    func(n *queue.Settings) { n.EventBytes = 0 },
		"no retention": func(n *queue.Settings) { n.EventAge = 0 },
	} {
		configure(change)
		if list := short(10); len(list) > 0 {
			t.Errorf("%s: %+v", name, list)
		}
	}
	configure(nil)
	c.l.now += queue.DefaultSettings().EventAge/2 + 60_000
	if _, err := propose(c, fsm.ConfigureMessages, func() queue.Settings { n := queue.DefaultSettings(); n.EventBytes = 20_000; return n }()); err != nil {
		t.Fatal(err)
	}
	if list := short(10); len(list) > 0 {
		t.Errorf("kept for half its time: %+v", list)
	}
}
