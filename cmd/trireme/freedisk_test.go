package main

import (
	"testing"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
)

func TestFreeDiskReadsSizesAndPercentages(t *testing.T) {
	for text, want := range map[string]logstore.Floor{
		"": {}, " 2GiB ": {Bytes: 2 << 30}, "1": {Bytes: 1}, "5%": {Share: 0.05}, "12.5 %": {Share: 0.125}, "90%": {Share: 0.9},
	} {
		got := freeDisk{Bytes: 99, Share: 1}
		if err := got.Set(text); err != nil || logstore.Floor(got) != want {
			t.Errorf("%q is %+v, %v, want %+v", text, got, err, want)
		}
		var again freeDisk
		if err := again.Set(got.String()); err != nil || again != got {
			t.Errorf("%q prints as %q, which is %+v (%v)", text, got.String(), again, err)
		}
	}
	for _, bad := range []string{"0", "0B", "0%", "-5%", "91%", "%", "NaN%", "five", "-1"} {
		var got freeDisk
		if err := got.Set(bad); err == nil || got != (freeDisk{}) {
			t.Errorf("%q was taken as %+v (%v)", bad, got, err)
		}
	}
}
