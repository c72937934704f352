package command

import (
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errNoPlace     = reply.Error("ERR could not decode requested zset member")
	errRadius      = reply.Error("ERR need numeric radius")
	errRadiusBelow = reply.Error("ERR radius cannot be negative")
	errWidth       = reply.Error("ERR need numeric width")
	errHeight      = reply.Error("ERR need numeric height")
	errBoxBelow    = reply.Error("ERR height or width cannot be negative")
	errGeoCount    = reply.Error("ERR COUNT must be > 0")
	errAnyCount    = reply.Error("ERR the ANY argument requires COUNT argument")
	errStoreWith   = reply.Error("ERR STORE option in GEORADIUS is not compatible with WITHDIST, WITHHASH and WITHCOORD options")
	errSearchWith  = reply.Error("ERR GEOSEARCHSTORE is not compatible with WITHDIST, WITHHASH and WITHCOORD options")
)

// circle reads a radius and its unit.
func (o *geoOptions) circle(a *Args) {
	if o.shape.Radius = a.DoubleOr(errRadius); o.shape.Radius < 0 {
		a.Fail(errRadiusBelow)
	}
	o.unit = a.unit()
	o.shape.Radius *= o.unit
}

// box reads a width, a height and their unit.
func (o *geoOptions) box(a *Args) {
	o.shape.Box = true
	o.shape.Width, o.shape.Height = a.DoubleOr(errWidth), a.DoubleOr(errHeight)
	if o.shape.Width < 0 || o.shape.Height < 0 {
		a.Fail(errBoxBelow)
	}
	o.unit = a.unit()
	o.shape.Width *= o.unit
	o.shape.Height *= o.unit
}

// center takes the place of a member; in a missing set, z nil, every place will do.
func (o *geoOptions) center(a *Args, z *keyspace.ZSet, member []byte) {
	if z == nil || a.bad {
		return
	}
	ok := false
	if o.shape.Center, ok = memberPoint(z, member); !ok {
		a.Fail(errNoPlace)
	}
}

// shared reads a word that all searches take.
func (o *geoOptions) shared(a *Args) bool {
	switch {
	case a.Word("WITHDIST"):
		o.dist = true
	case a.Word("WITHHASH"):
		o.hash = true
	case a.Word("WITHCOORD"):
		o.coord = true
	case a.Word("ANY"):
		o.any = true
	case a.Word("ASC"):
		o.order = 1
	case a.Word("DESC"):
		o.order = -1
	case a.Left() > 1 && a.Word("COUNT"):
		if o.count = a.Int(); o.count <= 0 {
			a.Fail(errGeoCount)
		}
	default:
		return false
	}
	return true
}

// check records what is wrong with the words together.
func (o *geoOptions) check(a *Args, storeWith reply.Value) {
	if o.destination != nil && (o.dist || o.hash || o.coord) {
		a.Fail(storeWith)
	}
	if o.any && o.count == 0 {
		a.Fail(errAnyCount)
	}
}

func geoRadius(tx *Tx, a *Args) reply.Value { return tx.radius(a, false, true) }

func geoRadiusRO(tx *Tx, a *Args) reply.Value { return tx.radius(a, false, false) }

func geoRadiusByMember(tx *Tx, a *Args) reply.Value { return tx.radius(a, true, true) }

func geoRadiusByMemberRO(tx *Tx, a *Args) reply.Value { return tx.radius(a, true, false) }

// radius looks at the key before it judges the words, as Redis does. Without the key,
// around a member, the radius is not judged at all.
func (tx *Tx) radius(a *Args, byMember, mayStore bool) reply.Value {
	z, ok := tx.findZSet(a.Bytes())
	if !ok {
		return ErrWrongType
	}
	o := geoOptions{unit: 1, stored: "georadiusstore"}
	switch {
	case byMember && z == nil:
		a.Take(3)
	case byMember:
		o.center(a, z, a.Bytes())
		o.circle(a)
	default:
		o.shape.Center = a.point()
		o.circle(a)
	}
	for a.Left() > 0 && !a.bad {
		switch {
		case o.shared(a):
		case mayStore && a.Left() > 1 && a.Word("STORE"):
			o.destination, o.storeDist = a.Bytes(), false
		case mayStore && a.Left() > 1 && a.Word("STOREDIST"):
			o.destination, o.storeDist = a.Bytes(), true
		default:
			a.Fail(ErrSyntax)
		}
	}
	o.check(a, errStoreWith)
	if err, ok := a.Done(); !ok {
		return err
	}
	return tx.search(z, &o)
}

func geoSearch(tx *Tx, a *Args) reply.Value { return tx.geoSearch(a, nil) }

func geoSearchStore(tx *Tx, a *Args) reply.Value {
	return tx.geoSearch(a, a.Bytes())
}

// geoSearch looks at the key before it judges the words, as Redis does.
func (tx *Tx) geoSearch(a *Args, destination []byte) reply.Value {
	z, ok := tx.findZSet(a.Bytes())
	if !ok {
		return ErrWrongType
	}
	o := geoOptions{unit: 1, destination: destination, stored: "geosearchstore"}
	for a.Left() > 0 && !a.bad {
		if !o.shared(a) && !o.area(a, z) {
			if destination == nil || !a.Word("STOREDIST") {
				a.Fail(ErrSyntax)
			}
			o.storeDist = true
		}
	}
	if o.destination != nil && (o.dist || o.hash || o.coord) {
		a.Fail(errSearchWith)
	}
	name := clean(string(a.argv[0]))
	if !o.fromMember && !o.fromLoc {
		a.Fail(reply.Error("ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for " + name))
	}
	if !o.byRadius && !o.byBox {
		a.Fail(reply.Error("ERR exactly one of BYRADIUS and BYBOX can be specified for " + name))
	}
	o.check(a, errSearchWith)
	if err, ok := a.Done(); !ok {
		return err
	}
	return tx.search(z, &o)
}

// area reads where to search, if that is next.
func (o *geoOptions) area(a *Args, z *keyspace.ZSet) bool {
	switch {
	case a.Left() > 1 && !o.fromLoc && a.Word("FROMMEMBER"):
		o.fromMember = true
		o.center(a, z, a.Bytes())
	case a.Left() > 2 && !o.fromMember && a.Word("FROMLONLAT"):
		o.fromLoc = true
		o.shape.Center = a.point()
	case a.Left() > 2 && !o.byBox && a.Word("BYRADIUS"):
		o.byRadius = true
		o.circle(a)
	case a.Left() > 3 && !o.byRadius && a.Word("BYBOX"):
		o.byBox = true
		o.box(a)
	default:
		return false
	}
	return true
}
