package testclock

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestModes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Frozen)
		began := c.Now()
		time.Sleep(time.Minute)
		if !c.Now().Equal(began) {
			t.Error("a frozen clock moves")
		}
		if err := c.Advance(time.Hour); err != nil || !c.Now().Equal(began.Add(time.Hour)) {
			t.Errorf("%v after it was set forward, %v", c.Now().Sub(began), err)
		}
		c.SetMode(Real)
		time.Sleep(time.Minute)
		if got := c.Now().Sub(began); got != time.Hour+time.Minute {
			t.Errorf("%v after a minute of running", got)
		}
		c.SetMode(Auto)
		time.Sleep(time.Minute)
		if got := c.Now().Sub(began); got != time.Hour+time.Minute {
			t.Errorf("%v after it was stopped", got)
		}
		if err := c.Advance(-1); !errors.Is(err, ErrBackwards) {
			t.Error(err)
		}
	})
}

func TestParseMode(t *testing.T) {
	for _, m := range []Mode{Real, Frozen, Auto} {
		if got, err := ParseMode(string(m)); got != m || err != nil {
			t.Errorf("%s: %s, %v", m, got, err)
		}
	}
	if _, err := ParseMode("fast"); err == nil {
		t.Error("no error for an unknown mode")
	}
}
