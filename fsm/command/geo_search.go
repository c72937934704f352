package command

import (
	"cmp"
	"slices"

	"github.com/trireme-dev/trireme/fsm/geo"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// geoOptions are the words of a search.
type geoOptions struct {
	shape               geo.Shape
	unit                float64 // metres of the unit that distances are given in
	fromMember, fromLoc bool
	byRadius, byBox     bool
	dist, hash, coord   bool
	any                 bool
	count               int64 // 0 for all
	order               int   // 0 for none, 1 nearest first, -1 farthest first
	destination         []byte
	stored              string // the event of storing there
	storeDist           bool
}

// geoHit is a member that was found.
type geoHit struct {
	keyspace.Scored
	point    geo.Point
	distance float64 // metres
}

// find looks through the cells that the shape touches. With ANY it stops at count
// members.
func (o *geoOptions) find(tx *Tx, z *keyspace.ZSet) (hits []geoHit) {
	full := func() bool { return o.any && int64(len(hits)) >= o.count }
	for _, s := range o.shape.Spans() {
		if full() {
			break
		}
		z.Each(z.Below(s.From, false), func(m keyspace.Scored) bool {
			if m.Score >= s.To || o.destination == nil && tx.lookAt(geoLook) {
				return false
			}
			p := geo.Decode(m.Score)
			if d, in := o.shape.Distance(p); in {
				hits = append(hits, geoHit{m, p, d})
			}
			return !full()
		})
	}
	return o.sort(hits)
}

// sort orders the members and leaves out those beyond the count. A count without an
// order means the nearest, but not with ANY.
func (o *geoOptions) sort(hits []geoHit) []geoHit {
	order := o.order
	if order == 0 && o.count > 0 && !o.any {
		order = 1
	}
	byDistance := func(a, b geoHit) int { return order * cmp.Compare(a.distance, b.distance) }
	cut := o.count > 0 && int64(len(hits)) > o.count
	switch {
	case order == 0:
	case cut:
		sortFirst(hits, int(o.count), byDistance)
	default:
		slices.SortStableFunc(hits, byDistance)
	}
	if cut {
		hits = hits[:o.count]
	}
	return hits
}

// reply lists members: bare, or each with what was asked for.
func (o *geoOptions) reply(tx *Tx, hits []geoHit) reply.Value {
	out := make([]reply.Value, len(hits))
	for i, h := range hits {
		row := []reply.Value{reply.Bulk(h.Member)}
		if o.dist {
			row = append(row, distanceReply(h.distance/o.unit))
		}
		if o.hash {
			row = append(row, reply.Int(int64(h.Score)))
		}
		if o.coord {
			row = append(row, tx.place(h.point))
		}
		if out[i] = row[0]; len(row) > 1 {
			out[i] = reply.Array(row...)
		}
	}
	return reply.Array(out...)
}

// storeHits stores members under the destination, with their places or their distances as
// scores.
func (tx *Tx) storeHits(o *geoOptions, hits []geoHit) reply.Value {
	members := make([]keyspace.Scored, len(hits))
	for i, h := range hits {
		members[i] = h.Scored
		if o.storeDist {
			members[i].Score = h.distance / o.unit
		}
	}
	return tx.storeZSet(o.destination, members, o.stored)
}

// search answers a search in the set under a key that may be missing.
func (tx *Tx) search(z *keyspace.ZSet, o *geoOptions) reply.Value {
	var hits []geoHit
	if z != nil {
		hits = o.find(tx, z)
	}
	if o.destination != nil {
		return tx.storeHits(o, hits)
	}
	return o.reply(tx, hits)
}
