package failover

import (
	"testing"
	"time"
)

// RetryWithin has votes asked again for so long, until the test ends.
func RetryWithin(t *testing.T, d time.Duration) {
	before := retryWithin
	retryWithin = d
	t.Cleanup(func() { retryWithin = before })
}
