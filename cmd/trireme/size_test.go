package main

import (
	"testing"

	"pgregory.net/rapid"
)

func TestByteSizeReadsUnits(t *testing.T) {
	for text, want := range map[string]byteSize{
		"0": 0, "12": 12, "10MiB": 10 << 20, "1 GiB": 1 << 30, "2gb": 2e9, "7B": 7, "3KiB": 3 << 10, "5tib": 5 << 40,
	} {
		var got byteSize
		if err := got.Set(text); err != nil || got != want {
			t.Errorf("%q is %d, %v, want %d", text, got, err, want)
		}
	}
	for _, bad := range []string{"", "MiB", "-1", "1.5GiB", "9223372036854775807KiB", "10 MiBs", "0x10"} {
		var got byteSize
		if err := got.Set(bad); err == nil {
			t.Errorf("%q was taken as %d", bad, got)
		}
	}
}

func TestByteSizeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := byteSize(rapid.Int64Min(0).Draw(t, "bytes") >> rapid.IntRange(0, 62).Draw(t, "shift"))
		var got byteSize
		if err := got.Set(want.String()); err != nil || got != want {
			t.Fatalf("%d prints as %s, which reads as %d, %v", want, want.String(), got, err)
		}
	})
}
