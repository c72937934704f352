package fsm_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
)

// TestHeldExpiry has keys and fields of two databases pass their deadline while those of one are held: they stay in the
// state, nobody finds them, and nothing is due because of them. The hold is in snapshots, outlasts a change of the leader and ends at
// its time, when it is taken back, and when a backup is restored; it never ends for a shorter one.
func TestHeldExpiry(t *testing.T) {
	c := newTenants(t, 77)
	tokens := map[string]string{"a": "a-token", "b": "b-token"}
	hold := func(millis, left int64) {
		t.Helper()
		n, err := proposeIn(c, "a", c.number("a"), fsm.HoldExpiry, fsm.ExpiryHold{Millis: millis})
		if err != nil || n.Millis > left || n.Millis < left-1000 {
			t.Errorf("a hold of %d ms: %+v, %v, want %d", millis, n, err, left)
		}
	}
	stored := func(db string) (keys int) {
		c.a.View(c.l.now, [16]byte{}, func(v *fsm.View) {
			for _, d := range v.Databases() {
				if d.Name == db {
					keys = d.Keys
				}
			}
		})
		return keys
	}
	fill := func() {
		for db, token := range tokens {
			for _, line := range []string{"SET gone v PX 1000", "HSET h f v g w", "HPEXPIRE h 1000 FIELDS 1 f", "HSET all f v", "HPEXPIRE all 1000 FIELDS 1 f", "SET stays v"} {
				if v := c.exec(db, token, strings.Fields(line)...); v.IsError() {
					t.Fatalf("%s: %s", line, v.Text())
				}
			}
		}
	}
	advance := func(wantA, wantB int) {
		t.Helper()
		c.advance(0)
		if a, b := stored("a"), stored("b"); a != wantA || b != wantB {
			t.Errorf("%d and %d keys are stored, want %d and %d", a, b, wantA, wantB)
		}
	}
	fill()
	hold(100_000, 100_000)
	hold(50_000, 100_000)
	c.l.now += 2000
	advance(4, 2)
	for line, want := range map[string]string{"GET gone": "", "HGET h f": "", "HGET h g": "w", "HGET all f": "", "GET stays": "v"} {
		if v := c.exec("a", "a-token", strings.Fields(line)...); v.Text() != want {
			t.Errorf("%s: %s", line, v.Text())
		}
	}
	if n := c.exec("a", "a-token", "DBSIZE").Int(); n != 2 {
		t.Errorf("DBSIZE is %d", n)
	}
	if due, ok := c.a.NextDue(); !ok || due < c.l.now+90_000 {
		t.Errorf("something is due at %d, %d ms from now", due, due-c.l.now)
	}
	if v := c.exec("a", "a-token", "SET", "gone", "new", "NX"); v.Text() != "OK" {
		t.Errorf("a write finds a key that has expired: %s", v.Text())
	}
	var snapshot bytes.Buffer
	if err := c.a.Fork().Write(&snapshot); err != nil {
		t.Fatal(err)
	}
	again := fsm.NewMachine()
	if err := again.Restore(bytes.NewReader(snapshot.Bytes())); err != nil {
		t.Fatal(err)
	}
	if again.Fork().Digest() != c.a.Fork().Digest() {
		t.Error("a snapshot is read as another state")
	}
	c.a = again
	c.l.term++
	if _, err := propose(c.deliverer, fsm.NewTerm, fsm.Term{Number: c.l.term, Leader: "n2"}); err != nil {
		t.Fatal(err)
	}
	advance(4, 2)
	c.l.now += 98_000
	advance(3, 2)
	fill()
	hold(fsm.MaxExpiryHold*10, fsm.MaxExpiryHold)
	file, _ := backup(t, c.a)
	other := empty(t, 78)
	other.bring("r", file, fsm.PartBytes)
	if _, err := other.restore("r", file); err != nil {
		t.Fatal(err)
	}
	held := func(m *fsm.Machine) (held bool) {
		m.View(c.l.now, [16]byte{}, func(v *fsm.View) { held = v.ExpiryHeld("a") })
		return held
	}
	if !held(c.a) || held(other.a) {
		t.Errorf("held: %v, and %v after a restore", held(c.a), held(other.a))
	}
	c.l.now += 2000
	advance(4, 2)
	hold(0, 0)
	advance(2, 2)
	if _, err := proposeIn(c, "a", c.number("a")+100, fsm.HoldExpiry, fsm.ExpiryHold{Millis: 1}); !errors.Is(err, fsm.ErrNoDatabase) {
		t.Errorf("a hold of a database that was made anew: %v", err)
	}
	if fsm.HoldExpiry.Since != env.Base {
		t.Errorf("the operation is of level %d", fsm.HoldExpiry.Since)
	}
}
