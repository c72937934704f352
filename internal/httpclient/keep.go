package httpclient

import (
	"strconv"
	"strings"
	"time"
)

// A server closes a connection that has been unused for some time. A request that is on its way then is lost: nobody knows
// whether it was read, so it is not sent again. A connection is therefore given up before its server gives it up.
const (
	// KeepUnannounced is the time for which an unused connection is kept whose server does not announce how long it keeps its own.
	KeepUnannounced = time.Second
	// KeepMost is the longest time for which one is kept, whatever its server says: what is between the two may forget it too.
	KeepMost = 30 * time.Second
	// keepMargin plus the time of a round trip is the time by which a connection is given up before its server would close it.
	keepMargin = 500 * time.Millisecond
)

// KeepFor returns for how long a connection may be unused and carry another request: by the Keep-Alive headers of its last
// answer, and the round trip as far as it is known. It is 0 if no request may follow, and unannounced if the headers don't
// say, or can't be understood.
func KeepFor(headers []string, roundTrip, unannounced time.Duration) time.Duration {
	keep, announced := KeepMost, false
	for _, h := range headers {
		for one := range strings.SplitSeq(h, ",") {
			name, value, _ := strings.Cut(one, "=")
			seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
			switch name = strings.TrimSpace(name); {
			case strings.EqualFold(name, "max") && err == nil && seconds == 0:
				return 0
			case !strings.EqualFold(name, "timeout"):
			case err != nil:
				keep, announced = min(keep, unannounced), true
			default:
				announced = true
				keep = min(keep, time.Duration(seconds)*time.Second-keepMargin-roundTrip)
			}
		}
	}
	if !announced {
		return unannounced
	}
	return max(keep, 0)
}

// keepAlive is the header in which a server says how long it keeps a connection.
const keepAlive = "Keep-Alive"

// measured takes a time within which a byte went to the other side and another one came back. The shortest counts.
func (c *conn) measured(took time.Duration) {
	if c.roundTrip == 0 || took < c.roundTrip {
		c.roundTrip = took
	}
}

// usable reports whether a connection is unused for so short a time that its server has not given it up. The caller holds
// the client's lock, or the connection alone.
func (c *conn) usable(now time.Time) bool {
	return now.Sub(c.since) < KeepFor(c.announced, c.roundTrip, c.c.IdleTime)
}
