package rdb

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// value reads a value of a type.
func (r *reader) value(t Type) (v Value, err error) {
	switch t {
	case TypeString:
		v.Text, err = r.text()
	case TypeList, TypeListZiplist, TypeListQuicklist, TypeListQuicklist2:
		v.Data, err = r.list(t)
	case TypeSet, TypeSetIntset, TypeSetListpack:
		v.Data, err = r.set(t)
	case TypeZSet, TypeZSet2, TypeZSetZiplist, TypeZSetListpack:
		v.Data, err = r.zset(t)
	case TypeHash, TypeHashZiplist, TypeHashListpack, TypeHashTimed, TypeHashTimedRC, TypeListpackTimed, TypeListpackTimedRC:
		v.Data, err = r.hash(t)
	case TypeStream, TypeStream2, TypeStream3:
		v.Data, err = r.stream(t)
	case TypeModule2:
		v.Data, err = r.module()
	default:
		err = ErrFormat
	}
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// texts calls f for n strings.
func (r *reader) texts(n int, f func(string) error) error {
	for range n {
		s, err := r.text()
		if err != nil {
			return err
		}
		if err := f(s); err != nil {
			return err
		}
	}
	return nil
}

// The forms of a part of a list.
const (
	nodePlain  = 1
	nodePacked = 2
)

func (r *reader) list(t Type) (keyspace.Container, error) {
	list := keyspace.NewElements()
	push := func(s string) error {
		list.Insert(list.Len(), s)
		return nil
	}
	if t == TypeListZiplist {
		return list, r.packedTexts(ziplists, push)
	}
	n, err := r.count(1)
	if err != nil {
		return nil, err
	}
	if t == TypeList {
		return list, r.texts(n, push)
	}
	for range n {
		if err := r.node(t, push); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// node reads a part of a list.
func (r *reader) node(t Type, push func(string) error) error {
	if t == TypeListQuicklist {
		return r.packedTexts(ziplists, push)
	}
	form, err := r.length()
	switch {
	case err != nil:
		return err
	case form == nodePacked:
		return r.packedTexts(listpacks, push)
	case form == nodePlain:
		return r.texts(1, push)
	}
	return ErrFormat
}

func (r *reader) set(t Type) (keyspace.Container, error) {
	set := keyspace.NewMembers()
	add := func(s string) error {
		if !set.Add(s) {
			return ErrFormat
		}
		return nil
	}
	switch t {
	case TypeSetIntset:
		return set, r.intset(add)
	case TypeSetListpack:
		return set, r.packedTexts(listpacks, add)
	}
	n, err := r.count(1)
	if err != nil {
		return nil, err
	}
	return set, r.texts(n, add)
}

// intset reads integers of one width in ascending order.
func (r *reader) intset(add func(string) error) error {
	b, err := r.blob()
	if err != nil {
		return err
	}
	const head = 8
	if len(b) < head {
		return ErrFormat
	}
	width, n := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	if width != 2 && width != 4 && width != 8 || n == 0 || uint64(len(b)) != head+uint64(width)*uint64(n) {
		return ErrFormat
	}
	last := int64(math.MinInt64)
	for at := head; at < len(b); at += int(width) {
		number := signed(b[at : at+int(width)])
		if at > head && number <= last {
			return ErrFormat
		}
		last = number
		if err := r.take(0); err != nil {
			return err
		}
		if err := add(strconv.FormatInt(number, 10)); err != nil {
			return err
		}
	}
	return nil
}

// zset gathers the members first: how many there are, and how long, decides its form.
func (r *reader) zset(t Type) (keyspace.Container, error) {
	all, err := r.scored(t)
	if err != nil {
		return nil, err
	}
	if err := r.work(scoredSteps * len(all)); err != nil {
		return nil, err
	}
	longest := 0
	for _, s := range all {
		if longest = max(longest, len(s.Member)); math.IsNaN(s.Score) {
			return nil, ErrFormat
		}
	}
	z := keyspace.NewZSet(len(all), longest)
	for _, s := range all {
		if !z.Put([]byte(s.Member), s.Score) {
			return nil, ErrFormat
		}
	}
	return z, nil
}

func (r *reader) scored(t Type) (all []keyspace.Scored, err error) {
	switch t {
	case TypeZSetZiplist:
		return r.packedScores(ziplists)
	case TypeZSetListpack:
		return r.packedScores(listpacks)
	}
	score := r.double
	if t == TypeZSet {
		score = r.doubleText
	}
	n, err := r.count(2)
	if err != nil {
		return nil, err
	}
	for range n {
		member, err := r.text()
		if err != nil {
			return nil, err
		}
		f, err := score()
		if err != nil {
			return nil, err
		}
		all = append(all, keyspace.Scored{Score: f, Member: member})
	}
	return all, nil
}

func (r *reader) packedScores(open opener) (all []keyspace.Scored, err error) {
	member, isMember := "", true
	err = r.packedTexts(open, func(s string) error {
		if isMember = !isMember; !isMember {
			member = s
			return nil
		}
		f, err := parseScore(s)
		all = append(all, keyspace.Scored{Score: f, Member: member})
		return err
	})
	if err == nil && !isMember {
		err = ErrFormat
	}
	return all, err
}
