package failover

import (
	"testing"
	"time"
)

// RetryWithin sets the time within which votes are asked again, until the test ends.
func RetryWithin(t *testing.T, d time.Duration) {
	before := retryWithin
	retryWithin = d
	t.Cleanup(func() { retryWithin = before })
}
