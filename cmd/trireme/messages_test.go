package main

import (
	"testing"

	"pgregory.net/rapid"
)

func TestTimesRoundTrip(t *testing.T) {
	for text, want := range map[string]millis{"0": 0, "7d": 604_800_000, "1d12h": 129_600_000, "90": 90_000, "10m": 600_000} {
		var got millis
		if err := got.Set(text); err != nil || got != want {
			t.Errorf("%q is %d, %v, want %d", text, got, err, want)
		}
	}
	for _, bad := range []string{"", "7w", "-1d", "1.5h", "soon"} {
		var got millis
		if err := got.Set(bad); err == nil {
			t.Errorf("%q was taken as %d", bad, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		want := millis(rapid.Int64Range(0, 1<<31).Draw(t, "seconds") * 1000)
		var got millis
		if err := got.Set(want.String()); err != nil || got != want {
			t.Fatalf("%s of %d is read as %d, %v", want.String(), want, got, err)
		}
	})
}
