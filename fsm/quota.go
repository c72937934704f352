package fsm

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// dayMillis is a UTC day of cluster time.
const dayMillis = 86_400_000

// quota is what a database has given away of the commands it may answer in a day.
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

// Fields are those of the format.
func (n *QuotaClaim) Fields(c *wire.Codec) {
	c.String(&n.DB)
	c.Varint(&n.Want)
}

// Quota is the daily quota of a database and what a claim got of it.
type Quota struct {
	// Database is the number of the database: one that was made anew has another.
	Database uint64
	// Day counts UTC days of cluster time since 1970.
	Day int64
	// Limit is the commands a day, 0 for no limit; Taken is what the nodes have of it, and
	// Granted what this claim got.
	Limit, Taken, Granted int64
	// Rate is how many requests a second each node answers, Burst how many at once; 0 is any number. A view tells them.
	Rate, Burst int64
}

// Unlimited reports whether the database may have as many requests as it likes.
func (n *Quota) Unlimited() bool { return n.Limit == 0 && n.Rate == 0 }

// Fields are those of the format.
func (n *Quota) Fields(c *wire.Codec) {
	c.Uvarint(&n.Database)
	c.Varint(&n.Day)
	c.Varint(&n.Limit)
	c.Varint(&n.Taken)
	c.Varint(&n.Granted)
}

// takeQuota gives away as much of today's quota as is left, up to what is asked for.
func (s *State) takeQuota(e *env.Env, n QuotaClaim) (Quota, error) {
	d := s.database(n.DB)
	if d == nil {
		return Quota{}, ErrNoDatabase
	}
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
