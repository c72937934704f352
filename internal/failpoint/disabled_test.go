//go:build !failpoints

package failpoint

import "testing"

func TestDisabledCostsNothing(t *testing.T) {
	t.Setenv(EnvSpec, BeforePropose+"=panic")
	if Enabled {
		t.Fatal("enabled without the build tag")
	}
	if n := testing.AllocsPerRun(100, func() { Eval(BeforePropose) }); n != 0 {
		t.Fatalf("%v allocations in a disabled point", n)
	}
}
