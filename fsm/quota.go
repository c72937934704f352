package fsm

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// dayMillis is a UTC day of cluster time.
const dayMillis = 86_400_000

// quota counts the commands that a database has granted to nodes today, of those it may answer in a day.
// Nodes take it in blocks before they run commands.
type quota struct{ day, taken int64 }

// on is the quota as it stands on a day.
func (q quota) on(day int64) quota {
	if q.day != day {
		return quota{day: day}
	}
	return q
}

// QuotaClaim asks for commands of today's quota.
type QuotaClaim struct {
	// DB names the database, empty for the default.
	DB   string
	Want int64
}

// Fields codes the value in its wire format.
func (qc *QuotaClaim) Fields(c *wire.Codec) {
	c.String(&qc.DB)
	c.Varint(&qc.Want)
}

// Quota is the daily quota of a database and what a claim got of it.
type Quota struct {
	// Database is the number of the database: one that was made anew has another.
	Database uint64
	// Day counts UTC days of cluster time since 1970.
	Day int64
	// Limit is the number of commands a day, 0 for no limit; Taken counts those granted to all
	// nodes, Granted those granted by this claim.
	Limit, Taken, Granted int64
	// Rate limits the requests that each node answers in a second, Burst those at once (0 = unlimited). A view sets them.
	Rate, Burst int64
}

// Unlimited reports whether the database may have as many requests as it likes.
func (q *Quota) Unlimited() bool { return q.Limit == 0 && q.Rate == 0 }

// Fields codes the value in its wire format.
func (q *Quota) Fields(c *wire.Codec) {
	c.Uvarint(&q.Database)
	c.Varint(&q.Day)
	c.Varint(&q.Limit)
	c.Varint(&q.Taken)
	c.Varint(&q.Granted)
}

// takeQuota gives away as much of today's quota as is left, up to what is asked for.
func (s *State) takeQuota(e *env.Env, n QuotaClaim) (Quota, error) {
	d := s.database(n.DB)
	if d == nil {
		return Quota{}, ErrNoDatabase
	}
	d = s.open(d)
	d.quota = d.quota.on(e.Now / dayMillis)
	granted := max(0, min(n.Want, s.settings.DailyLimit-d.quota.taken))
	d.quota.taken += granted
	q := s.quotaOf(d, e.Now)
	q.Granted = granted
	return q, nil
}

func (s *State) quotaOf(d *database, now int64) Quota {
	today := d.quota.on(now / dayMillis)
	return Quota{Database: d.id, Day: today.day, Limit: s.settings.DailyLimit, Taken: today.taken}
}

// Quota is a database's daily quota as this state knows it; false if there is no such
// database. The empty name is the default.
func (v *View) Quota(db string) (Quota, bool) {
	d := v.s.database(db)
	if d == nil {
		return Quota{}, false
	}
	q := v.s.quotaOf(d, v.e.Now)
	q.Rate, q.Burst = d.config.RequestRate()
	return q, true
}
