package command

import (
	"math"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var errWeight = reply.Error("ERR weight value is not a float")

// zinput is one of the sets of an operation.
type zinput struct {
	scored *keyspace.ZSet    // nil for a plain set and for a missing key
	plain  *keyspace.Members // nil likewise; every member scores 1
	weight float64
	tx     *Tx
}

func (z *zinput) len() int {
	switch {
	case z.scored != nil:
		return z.scored.Len()
	case z.plain != nil:
		return z.plain.Len()
	}
	return 0
}

func (z *zinput) score(member string) (score float64, ok bool) {
	switch {
	case z.scored != nil:
		return z.scored.Score([]byte(member))
	case z.plain != nil:
		return 1, z.plain.Has(member)
	}
	return 0, false
}

func (z *zinput) each(f func(keyspace.Scored) bool) {
	switch {
	case z.scored != nil:
		z.scored.Each(0, func(s keyspace.Scored) bool {
			z.tx.CountSteps(stepsPerElement)
			return f(s)
		})
	case z.plain != nil:
		z.plain.All(func(member string) bool {
			z.tx.CountSteps(stepsPerElement)
			return f(keyspace.Scored{Score: 1, Member: member})
		})
	}
}

// weighted is a score times a weight. The conversion keeps the product from being
// fused with a sum, which some processors would round differently.
func weighted(score, weight float64) float64 { return float64(score * weight) }

// numberOr0 is f, or 0 in place of NaN: infinity times 0, or infinities that cancel.
func numberOr0(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return f
}

// joinScores combines the scores of one member.
type joinScores func(a, b float64) float64

func sumScores(a, b float64) float64 { return numberOr0(a + b) }

func minScore(a, b float64) float64 {
	if b < a {
		return b
	}
	return a
}

func maxScore(a, b float64) float64 {
	if b > a {
		return b
	}
	return a
}

// zoperation describes one of the commands that combine sorted sets.
type zoperation struct {
	name    string
	store   bool // with a destination before everything else
	diff    bool // no weights
	count   bool // ZINTERCARD
	combine func(in []zinput, join joinScores, limit int64) []keyspace.Scored
}

// zoptions are the words behind the keys.
type zoptions struct {
	join   joinScores
	scores bool
	limit  int64 // 0 for none
}

func zunion(tx *Tx, a *Args) reply.Value {
	return tx.combine(a, zoperation{name: "zunion", combine: unionScores})
}

func zunionStore(tx *Tx, a *Args) reply.Value {
	return tx.combine(a, zoperation{name: "zunionstore", store: true, combine: unionScores})
}

func zinter(tx *Tx, a *Args) reply.Value {
	return tx.combine(a, zoperation{name: "zinter", combine: intersectScores})
}

func zinterStore(tx *Tx, a *Args) reply.Value {
	return tx.combine(a, zoperation{name: "zinterstore", store: true, combine: intersectScores})
}

func zinterCard(tx *Tx, a *Args) reply.Value {
	return tx.combine(a, zoperation{name: "zintercard", count: true, combine: intersectScores})
}

func zdiff(tx *Tx, a *Args) reply.Value {
	return tx.combine(a, zoperation{name: "zdiff", diff: true, combine: subtractScores})
}

func zdiffStore(tx *Tx, a *Args) reply.Value {
	return tx.combine(a, zoperation{name: "zdiffstore", store: true, diff: true, combine: subtractScores})
}

// combine looks at the types of the keys before it reads the options, as Redis does.
func (tx *Tx) combine(a *Args, op zoperation) reply.Value {
	var destination []byte
	if op.store {
		destination = a.Bytes()
	}
	keys := readInputKeys(a, op.name)
	if a.bad {
		return a.err
	}
	in, ok := tx.zinputs(keys)
	if !ok {
		return ErrWrongType
	}
	o := readZoptions(a, &op, in)
	if err, ok := a.Done(); !ok {
		return err
	}
	members := op.combine(in, o.join, o.limit)
	switch {
	case op.count:
		return reply.Int(int64(len(members)))
	case op.store:
		return tx.storeZSet(destination, members, op.name)
	}
	slices.SortFunc(members, func(a, b keyspace.Scored) int {
		switch {
		case a.Score < b.Score:
			return -1
		case a.Score > b.Score:
			return 1
		}
		return strings.Compare(a.Member, b.Member)
	})
	return tx.membersReply(members, o.scores)
}

// readInputKeys reads a number of keys and the keys.
func readInputKeys(a *Args, name string) [][]byte {
	n := a.Int()
	switch {
	case a.bad:
		return nil
	case n < 1:
		a.Fail(reply.Error("ERR at least 1 input key is needed for '" + name + "' command"))
		return nil
	case n > int64(a.Left()):
		a.Fail(ErrSyntax)
		return nil
	}
	return a.Take(int(n))
}

func (tx *Tx) zinputs(keys [][]byte) (in []zinput, ok bool) {
	in = make([]zinput, len(keys))
	for i, key := range keys {
		in[i].weight, in[i].tx = 1, tx
		o := tx.DB.Find(tx.Env, key)
		switch o.Type() {
		case keyspace.None:
		case keyspace.SortedSet:
			in[i].scored = o.Data().(*keyspace.ZSet)
		case keyspace.Set:
			in[i].plain = o.Data().(*keyspace.Members)
		default:
			return nil, false
		}
	}
	return in, true
}

func readZoptions(a *Args, op *zoperation, in []zinput) zoptions {
	o, weighs := zoptions{join: sumScores}, !op.diff && !op.count
	for a.Left() > 0 && !a.bad {
		switch {
		case weighs && a.Left() > len(in) && a.Word("WEIGHTS"):
			for i := range in {
				in[i].weight = a.DoubleOr(errWeight)
			}
		case weighs && a.Left() > 1 && a.Word("AGGREGATE"):
			o.join = readAggregate(a)
		case !op.store && !op.count && a.Word("WITHSCORES"):
			o.scores = true
		case op.count && a.Left() > 1 && a.Word("LIMIT"):
			if o.limit = a.IntOr(errLimit); o.limit < 0 {
				a.Fail(errLimit)
			}
		default:
			a.Fail(ErrSyntax)
		}
	}
	return o
}

func readAggregate(a *Args) joinScores {
	switch {
	case a.Word("SUM"):
		return sumScores
	case a.Word("MIN"):
		return minScore
	case a.Word("MAX"):
		return maxScore
	}
	a.Fail(ErrSyntax)
	return sumScores
}

// bySize orders the inputs from the smallest on. Sums of floating-point numbers depend
// on their order, and this is Redis's.
func bySize(in []zinput) {
	slices.SortStableFunc(in, func(a, b zinput) int { return a.len() - b.len() })
}

// unionScores keeps the members in the order of their first sight, so that no order of a map
// can show.
func unionScores(in []zinput, join joinScores, _ int64) []keyspace.Scored {
	bySize(in)
	largest := in[len(in)-1].len()
	members := make([]keyspace.Scored, 0, largest)
	var at map[string]int // none if there is no second set that could name a member again
	if len(in) > 1 && in[len(in)-2].len() > 0 {
		at = make(map[string]int, largest)
	}
	for i := range in {
		in[i].each(func(s keyspace.Scored) bool {
			score := numberOr0(weighted(s.Score, in[i].weight))
			if j, ok := at[s.Member]; ok {
				members[j].Score = join(members[j].Score, score)
				return true
			}
			if at != nil {
				at[s.Member] = len(members)
			}
			members = append(members, keyspace.Scored{Score: score, Member: s.Member})
			return true
		})
	}
	return members
}

// intersectScores stops at limit members, if that is not 0.
func intersectScores(in []zinput, join joinScores, limit int64) (members []keyspace.Scored) {
	bySize(in)
	in[0].each(func(s keyspace.Scored) bool {
		score := numberOr0(weighted(s.Score, in[0].weight))
		for i := 1; i < len(in); i++ {
			other, ok := in[i].score(s.Member)
			if !ok {
				return true
			}
			score = join(score, weighted(other, in[i].weight))
		}
		members = append(members, keyspace.Scored{Score: score, Member: s.Member})
		return limit == 0 || int64(len(members)) < limit
	})
	return members
}

func subtractScores(in []zinput, _ joinScores, _ int64) (members []keyspace.Scored) {
	in[0].each(func(s keyspace.Scored) bool {
		for i := 1; i < len(in); i++ {
			if _, ok := in[i].score(s.Member); ok {
				return true
			}
		}
		members = append(members, s)
		return true
	})
	return members
}
