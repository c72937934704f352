package keyspace

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
)

// Scored is a member of a sorted set with its score.
type Scored struct {
	Score  float64
	Member string
}

// compareScored orders by score, then by the bytes of the member. Scores are never
// NaN, and the two zeros are equal.
func compareScored(a, b Scored) int {
	switch {
	case a.Score < b.Score:
		return -1
	case a.Score > b.Score:
		return 1
	}
	return strings.Compare(a.Member, b.Member)
}

// headOfScore orders as the scores do.
func headOfScore(s Scored) uint64 {
	const sign = 1 << 63
	bits := math.Float64bits(s.Score + 0) // one zero
	if bits&sign != 0 {
		return ^bits
	}
	return bits | sign
}

const (
	smallZSet = packedMembers // members of the slice form
	// scoredCost is the logical overhead of a member in bytes.
	scoredCost = 80
	// Beyond these Redis stops packing a sorted set, and never packs it again.
	packedMembers = 128
	packedMember  = 64
)

// ZSet is the container of a sorted set. Up to 128 members stand in a slice; more are
// kept in two trees that fork in constant time: by member for look-ups and scans, by
// score for ranks and ranges.
type ZSet struct {
	Owned
	packed  string                      // of a view of a packed set: what Encode wrote behind the number of members
	count   int                         // of a view
	small   []Scored                    // in order; unused once there are trees
	members *cow.BTree[string, float64] // in the order of hashOf, then of bytes
	ranked  *cow.BTree[Scored, struct{}]
	size    int64
	loose   bool
}

// NewZSet is an empty sorted set that will at first hold that many members, of which
// the longest has longest bytes.
func NewZSet(members, longest int) *ZSet {
	return &ZSet{loose: members > packedMembers || longest > packedMember}
}

// ZSetOf is the sorted set that Put makes of members, each of which is named once, in an empty one that will hold them. It keeps
// their names as they are, and their slice.
func ZSetOf(members []Scored) *ZSet {
	longest := 0
	for i := range members {
		longest = max(longest, len(members[i].Member))
	}
	z := NewZSet(len(members), longest)
	for i := range members {
		if z.size += scoredCost + int64(len(members[i].Member)); members[i].Score == 0 && !z.loose {
			members[i].Score = 0 // see Put
		}
	}
	slices.SortFunc(members, compareScored)
	z.small = members
	z.index()
	return z
}

// Type is SortedSet.
func (zs *ZSet) Type() Type { return SortedSet }

// Size is the logical size in bytes.
func (zs *ZSet) Size() int64 { return zs.size }

// Loose reports whether Redis would have stopped packing the set: it once held more
// than 128 members or one of more than 64 bytes. It is part of the state, because
// clients can see it: in OBJECT ENCODING, in the pages of ZSCAN and in the sign of
// zeros.
func (zs *ZSet) Loose() bool { return zs.loose }

// Clone is a copy in constant time, or in at most 128 elements.
func (zs *ZSet) Clone() Container {
	c := &ZSet{size: zs.size, loose: zs.loose}
	switch {
	case zs.packed != "":
		zs.unpack()
		c.small = zs.small
	case zs.ranked == nil:
		c.small = slices.Clone(zs.small)
	default:
		c.members, c.ranked = zs.members.Snapshot(), zs.ranked.Snapshot()
	}
	return c
}

// viewZSet reads the record of a small sorted set in place.
func viewZSet(record string, size int64) *ZSet {
	zs := &ZSet{size: size, loose: record[0] != 0}
	zs.count, zs.packed = cutCount(record[1:])
	return zs
}

// each calls f for the members of a view in order until it returns false.
func (zs *ZSet) each(f func(Scored) bool) {
	for rest := zs.packed; rest != ""; {
		s := Scored{Score: math.Float64frombits(binary.LittleEndian.Uint64([]byte(rest[:8])))}
		if s.Member, rest, _ = cutWord(rest[8:]); !f(s) {
			return
		}
	}
}

// unpack makes the slice of a view, which its reader has alone.
func (zs *ZSet) unpack() {
	if zs.packed == "" {
		return
	}
	zs.small = make([]Scored, 0, zs.count+1)
	zs.each(func(s Scored) bool {
		zs.small = append(zs.small, s)
		return true
	})
	zs.packed = ""
}

// elements keeps sets that Redis would not pack from being packed: they are read in the order of their hashes.
func (zs *ZSet) elements() int {
	if zs.loose {
		return MaxPackedElements + 1
	}
	return zs.Len()
}

// Len is the number of members.
func (zs *ZSet) Len() int {
	switch {
	case zs.ranked != nil:
		return zs.ranked.Len()
	case zs.packed != "":
		return zs.count
	}
	return len(zs.small)
}

// Score is the score of a member.
func (zs *ZSet) Score(member []byte) (score float64, ok bool) {
	if zs.ranked != nil {
		return zs.members.Get(Alias(member))
	}
	if zs.packed != "" {
		zs.each(func(s Scored) bool {
			if ok = s.Member == string(member); ok {
				score = s.Score
			}
			return !ok
		})
		return score, ok
	}
	if i := zs.find(member); i >= 0 {
		return zs.small[i].Score, true
	}
	return 0, false
}

// find is the place of a member in the slice form, -1 if it is not there.
func (zs *ZSet) find(member []byte) int {
	for i := range zs.small {
		if zs.small[i].Member == string(member) {
			return i
		}
	}
	return -1
}

// Put gives a member a score and reports whether the member is new. A score that is
// equal to the old one changes nothing.
func (zs *ZSet) Put(member []byte, score float64) (added bool) {
	old, had := zs.Score(member)
	if had && old == score {
		return false
	}
	if !had {
		zs.loose = zs.loose || zs.Len()+1 > packedMembers || len(member) > packedMember
		zs.size += scoredCost + int64(len(member))
	}
	if score == 0 && !zs.loose {
		score = 0 // packed scores are integers where they can be, and have one zero
	}
	switch {
	case zs.ranked == nil && (had || len(zs.small) < smallZSet):
		zs.putSmall(member, score, had)
	case zs.ranked == nil:
		zs.grow()
		fallthrough
	default:
		zs.putLarge(member, old, score, had)
	}
	return !had
}

func (zs *ZSet) putSmall(member []byte, score float64, had bool) {
	s := Scored{score, ""}
	if had {
		i := zs.find(member)
		s.Member = zs.small[i].Member
		zs.small = slices.Delete(zs.small, i, i+1)
	} else {
		s.Member = string(member)
	}
	at, _ := slices.BinarySearchFunc(zs.small, s, compareScored)
	zs.small = slices.Insert(zs.small, at, s)
}

func (zs *ZSet) putLarge(member []byte, old, score float64, had bool) {
	slot, stored, _ := zs.members.Upsert(Alias(member), strings.Clone)
	*slot = score
	if had {
		zs.ranked.Delete(Scored{old, stored})
	}
	zs.ranked.Set(Scored{score, stored}, struct{}{})
}

// grow moves the slice into trees.
func (zs *ZSet) grow() {
	zs.members = cow.NewBTree[string, float64](hashOf, strings.Compare)
	zs.ranked = cow.NewBTree[Scored, struct{}](headOfScore, compareScored)
	for _, s := range zs.small {
		zs.members.Set(s.Member, s.Score)
		zs.ranked.Set(s, struct{}{})
	}
	zs.small = nil
}

// Remove takes a member out and reports whether it was there.
func (zs *ZSet) Remove(member []byte) bool {
	if zs.ranked == nil {
		i := zs.find(member)
		if i < 0 {
			return false
		}
		zs.small = slices.Delete(zs.small, i, i+1)
	} else {
		score, had := zs.members.Remove(Alias(member))
		if !had {
			return false
		}
		zs.ranked.Delete(Scored{score, Alias(member)})
	}
	zs.size -= scoredCost + int64(len(member))
	return true
}

// RemoveRange takes out the members of the ranks from to to, to excluded.
func (zs *ZSet) RemoveRange(from, to int) {
	for _, s := range zs.Range(from, to) {
		zs.Remove([]byte(s.Member))
	}
}

// Rank is the number of members before a member in the set's order.
func (zs *ZSet) Rank(member []byte) (rank int, ok bool) {
	zs.unpack()
	if zs.ranked == nil {
		rank = zs.find(member)
		return rank, rank >= 0
	}
	score, ok := zs.Score(member)
	if !ok {
		return 0, false
	}
	return zs.ranked.Rank(Scored{score, Alias(member)})
}

// Below is the number of members with a score less than score, or at most score.
func (zs *ZSet) Below(score float64, orEqual bool) int {
	h := headOfScore(Scored{Score: score})
	if orEqual {
		h++
	}
	zs.unpack()
	if zs.ranked != nil {
		return zs.ranked.RankHead(h)
	}
	for i, s := range zs.small {
		if headOfScore(s) >= h {
			return i
		}
	}
	return len(zs.small)
}

// At is the member at a rank; 0 <= rank < Len.
func (zs *ZSet) At(rank int) (s Scored) {
	if zs.packed != "" {
		zs.Each(rank, func(one Scored) bool {
			s = one
			return false
		})
		return s
	}
	if zs.ranked == nil {
		return zs.small[rank]
	}
	s, _ = zs.ranked.At(rank)
	return s
}

// Range are the members of the ranks from to to, to excluded, in a slice that the
// caller may keep.
func (zs *ZSet) Range(from, to int) []Scored {
	if from >= to {
		return nil
	}
	if zs.ranked == nil && zs.packed == "" {
		return slices.Clone(zs.small[from:to])
	}
	out := make([]Scored, 0, to-from)
	zs.Each(from, func(s Scored) bool {
		out = append(out, s)
		return len(out) < to-from
	})
	return out
}

// Each calls f for the members from a rank on, in order, until it returns false.
func (zs *ZSet) Each(from int, f func(Scored) bool) {
	if zs.packed != "" {
		rank := 0
		zs.each(func(s Scored) bool {
			rank++
			return rank <= from || f(s)
		})
		return
	}
	if from >= zs.Len() {
		return
	}
	if zs.ranked != nil {
		zs.ranked.Ascend(zs.At(from), func(s Scored, _ struct{}) bool { return f(s) })
		return
	}
	for _, s := range zs.small[from:] {
		if !f(s) {
			return
		}
	}
}

// Scan calls f for members from cursor on until it has passed count of them, and
// gives the cursor to go on at, 0 at the end. A packed set is one page. The cursor is
// a place in the order of the members' hashes, as in DB.Scan.
func (zs *ZSet) Scan(cursor uint64, count int, f func(Scored)) (next uint64) {
	if !zs.loose {
		zs.Each(0, func(s Scored) bool {
			f(s)
			return true
		})
		return 0
	}
	seen, last := 0, uint64(0)
	zs.byHash(cursor, func(member string, score float64) bool {
		hash := hashOf(member)
		if seen >= count && hash != last {
			next = hash
			return false
		}
		seen, last = seen+1, hash
		f(Scored{score, member})
		return true
	})
	return next
}

// byHash calls f for the members from a hash on, in the order of their hashes, until
// it returns false. Which form the set has in memory makes no difference.
func (zs *ZSet) byHash(from uint64, f func(member string, score float64) bool) {
	zs.unpack()
	if zs.ranked != nil {
		zs.members.AscendHead(from, f)
		return
	}
	for _, m := range byHash(zs.small) {
		if m.hash >= from && !f(m.Member, m.Score) {
			return
		}
	}
}
