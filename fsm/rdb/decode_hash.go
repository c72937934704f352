package rdb

import (
	"strconv"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// fields fills a hash; names don't repeat.
type fields struct {
	now  int64
	hash *keyspace.Fields
	seen int
}

// add takes a field with its deadline in unix milliseconds, 0 for none, unless that has
// passed. It is one by cluster time: the format has no other.
func (f *fields) add(name, value string, at int64) error {
	f.seen++
	switch {
	case at < 0:
		return ErrFormat
	case at != 0 && at <= f.now:
		return nil
	case !f.hash.Set(env.At(f.now), name, value, keyspace.Deadline(at)):
		return ErrFormat
	}
	return nil
}

func (r *reader) hash(t Type) (keyspace.Container, error) {
	f := fields{now: r.now, hash: keyspace.NewFields()}
	first := int64(0) // deadline, which the others count from
	var err error
	if t == TypeHashTimed || t == TypeListpackTimed {
		if first, err = r.millis(); err != nil {
			return nil, err
		}
	}
	switch t {
	case TypeHash:
		err = r.pairs(&f)
	case TypeHashTimed, TypeHashTimedRC:
		err = r.timedPairs(&f, first)
	case TypeHashZiplist:
		err = r.packedFields(ziplists, &f, 2)
	case TypeHashListpack:
		err = r.packedFields(listpacks, &f, 2)
	default:
		err = r.packedFields(listpacks, &f, 3)
	}
	if err != nil {
		return nil, err
	}
	return f.hash, nil
}

func (r *reader) pairs(f *fields) error {
	n, err := r.count(2)
	if err != nil {
		return err
	}
	for range n {
		if err := r.pair(f, 0); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) pair(f *fields, at int64) error {
	name, err := r.text()
	if err != nil {
		return err
	}
	value, err := r.text()
	if err != nil {
		return err
	}
	return f.add(name, value, at)
}

// timedPairs reads fields behind their deadlines, which count from the first deadline of
// all, plus 1.
func (r *reader) timedPairs(f *fields, first int64) error {
	n, err := r.count(3)
	if err != nil {
		return err
	}
	for range n {
		after, err := r.length()
		if err != nil {
			return err
		}
		at := int64(0)
		if after > 0 {
			if at = int64(after); first > 0 {
				at += first - 1
			}
			if at <= 0 {
				return ErrFormat
			}
		}
		if err := r.pair(f, at); err != nil {
			return err
		}
	}
	return nil
}

// packedFields reads fields that stand in a list with their values and, if each takes
// three entries, their deadlines.
func (r *reader) packedFields(open opener, f *fields, width int) error {
	var row [3]string
	n := 0
	err := r.packedTexts(open, func(s string) error {
		row[n%width] = s
		n++
		if n%width != 0 {
			return nil
		}
		at := int64(0)
		if width == len(row) {
			var err error
			if at, err = strconv.ParseInt(row[2], 10, 64); err != nil {
				return ErrFormat
			}
		}
		return f.add(row[0], row[1], at)
	})
	if err == nil && n%width != 0 {
		err = ErrFormat
	}
	return err
}
