package command

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errNXAndXX   = reply.Error("ERR XX and NX options at the same time are not compatible")
	errGTAndLT   = reply.Error("ERR GT, LT, and/or NX options at the same time are not compatible")
	errIncrPairs = reply.Error("ERR INCR option supports a single increment-element pair")
	errNaNScore  = reply.Error("ERR resulting score is not a number (NaN)")
)

// addOptions are those of ZADD.
type addOptions struct{ nx, xx, gt, lt, changed, incr bool }

func readAddOptions(a *Args) (o addOptions) {
	for {
		switch {
		case a.Word("NX"):
			o.nx = true
		case a.Word("XX"):
			o.xx = true
		case a.Word("GT"):
			o.gt = true
		case a.Word("LT"):
			o.lt = true
		case a.Word("CH"):
			o.changed = true
		case a.Word("INCR"):
			o.incr = true
		default:
			return o
		}
	}
}

// check records what is wrong with options in front of that many words.
func (o *addOptions) check(a *Args, words int) {
	switch {
	case words == 0 || words%2 != 0:
		a.Fail(ErrSyntax)
	case o.nx && o.xx:
		a.Fail(errNXAndXX)
	case o.gt && o.nx, o.lt && o.nx, o.gt && o.lt:
		a.Fail(errGTAndLT)
	case o.incr && words > 2:
		a.Fail(errIncrPairs)
	}
}

// newScore is a member to give a score to.
type newScore struct {
	member []byte
	score  float64
}

func readScores(a *Args) []newScore {
	scores := make([]newScore, 0, a.Left()/2)
	for a.Left() > 0 && !a.bad {
		score := a.Double()
		scores = append(scores, newScore{a.Bytes(), score})
	}
	return scores
}

func zadd(tx *Tx, a *Args) reply.Value { return tx.zadd(a, addOptions{}) }

// zincrBy takes ZADD's options too, as Redis does; with them a word is missing.
func zincrBy(tx *Tx, a *Args) reply.Value { return tx.zadd(a, addOptions{incr: true}) }

func (tx *Tx) zadd(a *Args, o addOptions) reply.Value {
	key, incr := a.Bytes(), o.incr
	o = readAddOptions(a)
	o.incr = o.incr || incr
	if o.check(a, a.Left()); a.bad {
		return a.err
	}
	scores := readScores(a)
	if err, ok := a.Done(); !ok {
		return err
	}
	return tx.addScores(key, scores, o)
}

// addScores runs ZADD once its words are read.
func (tx *Tx) addScores(key []byte, scores []newScore, o addOptions) reply.Value {
	e, ok := tx.editZSet(key)
	if !ok {
		return ErrWrongType
	}
	if e.z == nil {
		if o.xx {
			return o.reply(tx, 0, 0, nil)
		}
		longest := 0
		for _, s := range scores {
			longest = max(longest, len(s.member))
		}
		e.create(len(scores), longest)
	}
	event := "zadd"
	if o.incr {
		event = "zincr"
	}
	defer e.done(event)
	added, updated, last := int64(0), int64(0), (*float64)(nil)
	for i := range scores {
		result, err := e.put(&scores[i], o)
		switch {
		case err != nil:
			return *err
		case result == scoreAdded:
			added++
		case result == scoreUpdated:
			updated++
		}
		if result != scoreRefused {
			last = &scores[i].score
		}
	}
	tx.changes = added + updated
	return o.reply(tx, added, updated, last)
}

func (o *addOptions) reply(tx *Tx, added, updated int64, last *float64) reply.Value {
	switch {
	case o.incr && last == nil:
		return reply.Nil()
	case o.incr:
		return tx.score(*last)
	case o.changed:
		return reply.Int(added + updated)
	}
	return reply.Int(added)
}

// putResult is the effect of ZADD on one member.
type putResult uint8

const (
	scoreRefused putResult = iota // by an option
	scoreEqual
	scoreUpdated
	scoreAdded
)

// put gives one member its score, which under INCR is added to the old one and
// changed to the sum.
func (e *zsetEdit) put(s *newScore, o addOptions) (putResult, *reply.Value) {
	old, had := e.z.Score(s.member)
	switch {
	case had && o.nx, !had && o.xx:
		return scoreRefused, nil
	case !had:
		e.change().Put(s.member, s.score)
		return scoreAdded, nil
	}
	if o.incr {
		if s.score += old; math.IsNaN(s.score) {
			return scoreRefused, ptr(errNaNScore)
		}
	}
	switch {
	case o.lt && s.score >= old, o.gt && s.score <= old:
		return scoreRefused, nil
	case s.score == old:
		return scoreEqual, nil
	}
	e.change().Put(s.member, s.score)
	return scoreUpdated, nil
}

func zrem(tx *Tx, a *Args) reply.Value {
	key, members := a.Bytes(), a.Rest()
	e, ok := tx.editZSet(key)
	switch {
	case !ok:
		return ErrWrongType
	case e.z == nil:
		return reply.Int(0)
	}
	removed := int64(0)
	for _, m := range members {
		if _, had := e.z.Score(m); had {
			e.change().Remove(m)
			removed++
		}
	}
	e.done("zrem")
	return reply.Int(removed)
}
