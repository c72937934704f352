package workflows

import "testing"

func TestOlderThan(t *testing.T) {
	for version, want := range map[string]bool{
		"1.3.2": true, "1.3.99": true, "0.2.19": true, "1.4.0": false, "1.4.0-rc.1": false, "1.10.0": false, "2.0.0": false, "1.4": false, "1": false, "": false, "x.y": false,
		"1.3-canary": true,
	} {
		if got := olderThan(version, singletonSDK); got != want {
			t.Errorf("%q: %v, want %v", version, got, want)
		}
	}
}
