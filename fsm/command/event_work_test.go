package command

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/internal/testcpu"
)

// TestMessagesArePricedByPatterns: a message is matched with all patterns of its database's subscribers, and so is each event of a key. Work
// grows with patterns, with names and with keys, and what needs more than the budget is refused and changes nothing.
func TestMessagesArePricedByPatterns(t *testing.T) {
	spent := func(patterns int, notify, call string, limit int64) (int64, string) {
		t.Helper()
		book := channel.New()
		for i := range patterns {
			book.Set(1, channel.Ref{DB: "default", Kind: channel.Pattern, Name: fmt.Sprintf("*some?%d*", i)}, 1)
		}
		tx := testTx(nil, RESP)
		tx.User = tx.Users.User("default")
		tx.Channels = book.In("default")
		if notify != "" {
			if v := tx.do("CONFIG SET notify-keyspace-events " + notify); v.IsError() {
				t.Fatal(v.Text())
			}
		}
		tx.work, tx.Limits = work{}, Limits{MaxWork: limit}
		v := tx.Exec(words(call))
		return tx.work.used, v.Text()
	}
	mset := func(n int) string {
		line := "MSET"
		for i := range n {
			line += fmt.Sprintf(" key:%d v", i)
		}
		return line
	}
	for name, c := range map[string]struct{ notify, few, many string }{
		"publish, by the name": {"", "PUBLISH news m", "PUBLISH " + strings.Repeat("news", 40) + " m"},
		"events, by keys":      {"KEA", mset(2), mset(8)},
	} {
		few, _ := spent(1000, c.notify, c.few, 0)
		many, _ := spent(1000, c.notify, c.many, 0)
		if many < 3*few || few < 500 {
			t.Errorf("%s: %d and %d steps", name, few, many)
		}
		double, _ := spent(2000, c.notify, c.few, 0)
		if double < few*3/2 {
			t.Errorf("%s: %d steps with twice as many patterns, %d before", name, double, few)
		}
		if _, text := spent(1000, c.notify, c.many, few); !strings.Contains(text, "max request work exceeded") {
			t.Errorf("%s: beyond the budget: %s", name, text)
		}
	}
	if used, text := spent(1000, "", mset(8), 100); text != "OK" {
		t.Errorf("without events: %d steps, %s", used, text)
	}
}

// TestRefusedRowsLookAtFewPatterns: a row beyond the budget is refused after as many patterns as the budget has room for, so that
// ten thousand rows don't walk all patterns each.
func TestRefusedRowsLookAtFewPatterns(t *testing.T) {
	cost := func(patterns int) time.Duration {
		book := channel.New()
		for i := range patterns {
			book.Set(1, channel.Ref{DB: "default", Kind: channel.Pattern, Name: fmt.Sprintf("*some?%d*", i)}, 1)
		}
		tx := testTx(nil, RESP)
		tx.User = tx.Users.User("default")
		tx.Channels = book.In("default")
		if v := tx.do("CONFIG SET notify-keyspace-events KEA"); v.IsError() {
			t.Fatal(v.Text())
		}
		best := time.Hour
		for range 5 {
			began := testcpu.Used(t)
			for range 200 {
				tx.work, tx.Limits = work{}, Limits{MaxWork: 10}
				if v := tx.Exec(words("SET key value")); !v.IsError() {
					t.Fatal("it was not refused")
				}
			}
			best = min(best, testcpu.Used(t)-began)
		}
		return best
	}
	if few, many := cost(100), cost(20_000); many > 20*few {
		t.Errorf("200 refused rows take %v with 100 patterns, %v with 20,000", few, many)
	}
}
