package scheduler

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm/backoff"
	"github.com/trireme-dev/trireme/internal/httpsyntax"
)

// hostMath is the arithmetic of this processor, which only the leader uses.
var hostMath = backoff.Math{Exp: math.Exp, Pow: math.Pow}

// delayHeaders are those by which a destination asks to be left alone for a while, in
// the order in which they count: the first one present decides.
var delayHeaders = []string{"Retry-After", "X-Ratelimit-Reset", "X-Ratelimit-Reset-Requests", "X-Ratelimit-Reset-Tokens"}

// requestedDelay returns the delay that a destination asks for, in milliseconds. What can't be read,
// is negative or longer than a day is no answer: so is a moment in seconds since 1970.
func requestedDelay(header http.Header, now time.Time) (ms int64, ok bool) {
	for _, name := range delayHeaders {
		if values := header[name]; len(values) > 0 {
			d, ok := readDelay(strings.TrimSpace(values[0]), now)
			return d.Milliseconds(), ok && d >= 0 && d.Milliseconds() <= backoff.MaxDelay
		}
	}
	return 0, false
}

// readDelay reads a number of seconds, a date, or a duration such as 6m5s.
func readDelay(text string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if math.IsNaN(seconds) || math.Abs(seconds) > 1e9 {
			return 0, false
		}
		return time.Duration(seconds * float64(time.Second)), true
	}
	if at, ok := httpsyntax.ParseDate(text, now); ok {
		return max(at.Sub(now), 0), true
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

// retryDelay is the time to the next attempt in milliseconds, should there be one: what
// the destination asks for, else what the message's expression gives for the number of
// retries so far, else the default.
func (s *Sender) retryDelay(header http.Header, expression string, retried int, now time.Time) int64 {
	if ms, ok := requestedDelay(header, now); ok {
		return ms
	}
	if expression != "" {
		// It was checked when the message was published; a value that is no number has
		// no meaning, though.
		if x, err := backoff.Parse(expression); err == nil {
			if ms, ok := x.Delay(retried, hostMath); ok {
				return ms
			}
		}
	}
	ms, ok := s.options.DefaultDelay.Delay(retried, hostMath)
	if !ok {
		return backoff.MaxDelay
	}
	return ms
}
