package command

import (
	"math"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/geo"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var errUnit = reply.Error("ERR unsupported unit provided. please use M, KM, FT, MI")

// point reads a longitude and a latitude.
func (a *Args) point() geo.Point {
	p := geo.Point{Longitude: a.Double(), Latitude: a.Double()}
	if !p.Valid() {
		a.Fail(reply.Error("ERR invalid longitude,latitude pair " + sixDecimals(p.Longitude) + "," + sixDecimals(p.Latitude)))
	}
	return p
}

func sixDecimals(f float64) string {
	if math.IsInf(f, 0) {
		return reply.FormatDouble(f)
	}
	return strconv.FormatFloat(f, 'f', 6, 64)
}

// unit reads a unit of length and returns its metres.
func (a *Args) unit() float64 {
	switch {
	case a.Word("M"):
		return 1
	case a.Word("KM"):
		return 1000
	case a.Word("FT"):
		return 0.3048
	case a.Word("MI"):
		return 1609.34
	}
	a.Fail(errUnit)
	return 1
}

func geoAdd(tx *Tx, a *Args) reply.Value {
	key, o := a.Bytes(), addOptions{}
	for read := true; read; {
		switch {
		case a.Word("NX"):
			o.nx = true
		case a.Word("XX"):
			o.xx = true
		case a.Word("CH"):
			o.changed = true
		default:
			read = false
		}
	}
	if a.Left() == 0 || a.Left()%3 != 0 || o.nx && o.xx {
		return ErrSyntax
	}
	scores := make([]newScore, 0, a.Left()/3)
	for a.Left() > 0 && !a.bad {
		if p := a.point(); !a.bad {
			scores = append(scores, newScore{score: geo.Score(p), member: a.Bytes()})
		}
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	return tx.addScores(key, scores, o)
}

// places answers something about each of the members behind the key, and missing for
// those that are not there.
func (tx *Tx) places(a *Args, missing reply.Value, of func(score float64) reply.Value) reply.Value {
	key, members := a.Bytes(), a.Rest()
	z, ok := tx.findZSet(key)
	if !ok {
		return ErrWrongType
	}
	out := make([]reply.Value, len(members))
	for i, m := range members {
		out[i] = missing
		if z == nil {
			continue
		}
		if score, ok := z.Score(m); ok {
			out[i] = of(score)
		}
	}
	return reply.Array(out...)
}

func geoHash(tx *Tx, a *Args) reply.Value {
	return tx.places(a, reply.Nil(), func(score float64) reply.Value { return reply.Bulk(geo.Hash(score)) })
}

func geoPos(tx *Tx, a *Args) reply.Value {
	return tx.places(a, reply.NilArray(), func(score float64) reply.Value { return tx.place(geo.Decode(score)) })
}

func (tx *Tx) place(p geo.Point) reply.Value {
	return reply.Array(tx.coordinate(p.Longitude), tx.coordinate(p.Latitude))
}

func geoDist(tx *Tx, a *Args) reply.Value {
	key, from, to, unit := a.Bytes(), a.Bytes(), a.Bytes(), 1.0
	if a.Left() > 1 {
		return ErrSyntax
	}
	if a.Left() == 1 {
		unit = a.unit()
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	z, ok := tx.findZSet(key)
	switch {
	case !ok:
		return ErrWrongType
	case z == nil:
		return reply.Nil()
	}
	p, ok := memberPoint(z, from)
	q, okTo := memberPoint(z, to)
	if !ok || !okTo {
		return reply.Nil()
	}
	return distanceReply(geo.Distance(p, q) / unit)
}

func memberPoint(z *keyspace.ZSet, member []byte) (geo.Point, bool) {
	score, ok := z.Score(member)
	return geo.Decode(score), ok
}

// distanceReply prints a distance with four decimals, as a string in RESP3 too.
func distanceReply(d float64) reply.Value {
	return reply.Bulk(strconv.FormatFloat(d, 'f', 4, 64))
}
