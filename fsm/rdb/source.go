package rdb

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// source reads a file from front to back. What it returns is kept until cut is called.
type source struct {
	in    *bufio.Reader
	kept  []byte
	most  int    // bytes that may be kept at a time
	over  bool   // there were more since the last cut, and none are kept
	spare []byte // what is passed over stands here
	sum   uint64 // of everything that was read
	at    int64  // where reading goes on in the file, in bytes
}

// step is the number of bytes that are read at a time: a length that claims more than the file
// has must not allocate that much.
const step = 1 << 20

// bytes are the next n bytes, good until the next call. If they are more than may be
// kept, they are passed over, and none of them but a few are given.
func (s *source) bytes(n uint64) ([]byte, error) {
	if s.over = s.over || n > uint64(s.most-len(s.kept)); s.over {
		return s.passOver(n)
	}
	from := len(s.kept)
	for left := int(n); left > 0; {
		part := min(left, step)
		at := len(s.kept)
		s.kept = slices.Grow(s.kept, part)[:at+part]
		if err := s.fill(s.kept[at:]); err != nil {
			return nil, err
		}
		left -= part
	}
	return s.kept[from:], nil
}

// passOver is bytes where nothing is kept. What is needed to read on fits into one step.
func (s *source) passOver(n uint64) ([]byte, error) {
	if s.spare == nil {
		s.spare = make([]byte, step)
	}
	s.kept = s.kept[:0]
	for ; n > step; n -= step {
		if err := s.fill(s.spare); err != nil {
			return nil, err
		}
	}
	return s.spare[:n], s.fill(s.spare[:n])
}

// fill reads exactly b.
func (s *source) fill(b []byte) error {
	if _, err := io.ReadFull(s.in, b); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%w: the file ends at byte %d, within something", ErrFormat, s.at)
		}
		return err
	}
	s.sum = Checksum(s.sum, b)
	s.at += int64(len(b))
	return nil
}

// cut returns what was kept, good until the next call of bytes.
func (s *source) cut() []byte {
	b := s.kept
	s.kept, s.over = s.kept[:0], false
	return b
}

// then is err, or what next returns.
func then(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
}

func (s *source) bad(what string) error {
	return fmt.Errorf("%w: %s before byte %d", ErrFormat, what, s.at)
}

// head is reader.head for a file.
func (s *source) head() (n uint64, isSpecial bool, err error) {
	b, err := s.bytes(1)
	if err != nil {
		return 0, false, err
	}
	r := reader{b: append([]byte(nil), b...)}
	more := 0
	switch first := b[0]; {
	case first>>6 == length14:
		more = 1
	case first == length32:
		more = 4
	case first == length64:
		more = 8
	}
	if b, err = s.bytes(uint64(more)); err != nil {
		return 0, false, err
	}
	r.b = append(r.b, b...)
	if n, isSpecial, err = r.head(); err != nil {
		return 0, false, s.bad("no length")
	}
	return n, isSpecial, nil
}

func (s *source) length() (uint64, error) {
	n, isSpecial, err := s.head()
	if err == nil && isSpecial {
		err = s.bad("no length")
	}
	return n, err
}

// lengths reads n lengths.
func (s *source) lengths(n int) error {
	for range n {
		if _, err := s.length(); err != nil {
			return err
		}
	}
	return nil
}

// text passes a string over.
func (s *source) text() error {
	n, isSpecial, err := s.head()
	switch {
	case err != nil:
		return err
	case isSpecial && n == packed:
		short, err := s.length()
		if err != nil {
			return err
		}
		if _, err := s.length(); err != nil {
			return err
		}
		n = short
	case isSpecial && n <= int32s:
		n = 1 << n
	case isSpecial:
		return s.bad("no string")
	}
	_, err = s.bytes(n)
	return err
}

func (s *source) texts(n int) error {
	for range n {
		if err := s.text(); err != nil {
			return err
		}
	}
	return nil
}

// each reads a length and passes that many over, each by f.
func (s *source) each(f func() error) error {
	n, err := s.length()
	for ; n > 0 && err == nil; n-- {
		err = f()
	}
	return err
}

func (s *source) pass(n uint64) error {
	_, err := s.bytes(n)
	return err
}

// value passes a value over.
func (s *source) value(t Type) error {
	text, pair := s.text, func() error { return s.texts(2) }
	switch t {
	case TypeString, TypeListZiplist, TypeSetIntset, TypeZSetZiplist, TypeHashZiplist, TypeHashListpack, TypeZSetListpack, TypeSetListpack, TypeListpackTimedRC, typeZipmap:
		return s.text()
	case TypeList, TypeSet, TypeListQuicklist:
		return s.each(text)
	case TypeHash:
		return s.each(pair)
	case TypeZSet:
		return s.each(s.scored)
	case TypeZSet2:
		return s.each(func() error { return then(s.text(), func() error { return s.pass(8) }) })
	case TypeListQuicklist2:
		return s.each(func() error { return then(s.lengths(1), s.text) })
	case TypeHashTimed, TypeListpackTimed:
		if err := s.pass(8); err != nil {
			return err
		}
		if t == TypeListpackTimed {
			return s.text()
		}
		fallthrough
	case TypeHashTimedRC:
		return s.each(func() error { return then(s.lengths(1), func() error { return s.texts(2) }) })
	case TypeStream, TypeStream2, TypeStream3:
		return s.stream(t)
	case TypeModule2:
		return then(s.lengths(1), s.moduleParts)
	}
	return s.bad(fmt.Sprintf("a value of type %d, which is not known,", t))
}

// scored passes a member and its score as text over.
func (s *source) scored() error {
	if err := s.text(); err != nil {
		return err
	}
	b, err := s.bytes(1)
	if err != nil || b[0] >= scoreNaN {
		return err
	}
	return s.pass(uint64(b[0]))
}

// stream passes a stream over: its entries, its figures, its groups.
func (s *source) stream(t Type) error {
	figures, group := 3, 2
	if t >= TypeStream2 {
		figures, group = figures+5, group+1
	}
	err := s.each(func() error { return s.texts(2) })
	if err == nil {
		err = s.lengths(figures)
	}
	if err == nil {
		err = s.each(func() error { return s.group(t, group) })
	}
	return err
}

const streamID = 16 // bytes of an ID

func (s *source) group(t Type, figures int) error {
	if err := then(s.text(), func() error { return s.lengths(figures) }); err != nil {
		return err
	}
	err := s.each(func() error { return then(s.pass(streamID+8), func() error { return s.lengths(1) }) })
	if err != nil {
		return err
	}
	times := uint64(8)
	if t >= TypeStream3 {
		times += 8
	}
	return s.each(func() error {
		if err := then(s.text(), func() error { return s.pass(times) }); err != nil {
			return err
		}
		return s.each(func() error { return s.pass(streamID) })
	})
}

// moduleParts passes the value of a module over, up to its end mark.
func (s *source) moduleParts() error {
	for {
		part, err := s.length()
		if err != nil {
			return err
		}
		switch part {
		case moduleEnd:
			return nil
		case moduleInt, moduleUint:
			err = s.lengths(1)
		case moduleFloat:
			err = s.pass(4)
		case moduleDouble:
			err = s.pass(8)
		case moduleString:
			err = s.text()
		default:
			err = s.bad("no part of a module's value")
		}
		if err != nil {
			return err
		}
	}
}

// millis reads a moment.
func (s *source) millis() (int64, error) {
	b, err := s.bytes(8)
	if err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint64(b)), nil
}
