package failpoint

import (
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	armed, err := parse("a=panic; b=2*exit;\nc=sleep(100ms);d=off;a=3*sleep(1s);e=offset(-1h)")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]action{
		"a": {kind: doSleep, pause: time.Second, budget: 3},
		"b": {kind: doExit, budget: 2},
		"c": {kind: doSleep, pause: 100 * time.Millisecond, budget: -1},
		"d": {kind: doNothing, budget: -1},
		"e": {kind: doOffset, offset: -time.Hour, budget: -1},
	}
	if len(armed) != len(want) {
		t.Fatalf("%d points armed, want %d", len(armed), len(want))
	}
	for name, w := range want {
		if got := armed[name]; got == nil || *got != w {
			t.Errorf("%s: got %+v, want %+v", name, got, w)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, spec := range []string{"a", "=panic", "a=", "a=halt", "a=sleep", "a=sleep()", "a=sleep(-1s)", "a=offset(x)", "a=x*panic", "a=-1*panic"} {
		if armed, err := parse(spec); err == nil {
			t.Errorf("%q: armed %v, want an error", spec, armed)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a=panic;b=2*sleep(1ms)")
	f.Fuzz(func(t *testing.T, spec string) {
		armed, err := parse(spec)
		if err == nil && armed == nil {
			t.Fatal("neither points nor an error")
		}
	})
}
